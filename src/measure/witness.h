#pragma once

#include <sys/types.h>

namespace parajoule::measure {

/// Tells whether a signal that came to this process went to its whole group of processes, as by
/// `kill %1` of a shell: then the command, which is of the same group, has it already, and to hand
/// it on would give it twice. Nothing in the signal itself says so. The witness is a small process
/// of the group that holds back every signal and is asked which ones it got.
///
/// The kernel gives a signal to the younger processes of a group first, so a witness that was
/// started by this process has it before this process has.
class Witness {
 public:
  Witness();
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  /// Whether it got `signal` too, since it was last asked. False if it cannot be asked.
  bool got(int signal);

  pid_t process() const { return process_; }

 private:
  void start();
  void end();

  pid_t process_ = -1;
  int line_ = -1;
};

}  // namespace parajoule::measure
