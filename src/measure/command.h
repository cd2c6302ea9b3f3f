#pragma once

// Runs the command to its end, as if nobody stood between it and whoever started us.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "base/quantity.h"
#include "measure/inherited.h"
#include "measure/left.h"
#include "measure/signals.h"
#include "measure/witness.h"

namespace parajoule::measure {

/// Names the program and the system's reason.
class NotStarted : public base::Error {
 public:
  NotStarted(const std::string& program, int code);
  /// As shells give it: 127 if there is no such program, 126 if it is none; 3 if this machine has
  /// no process to spare.
  const int status;
};

/// How the command ended.
struct Ended {
  int status = 0;  ///< its own; 128 + n if signal n killed it
  std::optional<int> signal = {};
  base::Seconds cpu{0};         ///< of all its processes, those that are left behind included
  std::vector<Left> left = {};  ///< neither waited for nor killed
  bool told_to_end = false;     ///< TERM came to us meanwhile
};

/// The command as a child of this process, in our group of processes, with our terminal. Processes
/// it loses (daemons) become children of ours, so that their time is known.
///
/// A key of the terminal reaches the command without us. What was sent to this process alone is
/// handed on; when the command stops because it and we were told to, we stop too, so that a shell
/// sees a stopped job.
class Command {
 public:
  /// Starts it, with `environment` set in addition. Throws NotStarted.
  Command(const std::vector<std::string>& words,
          const std::map<std::string, std::string>& environment, const Inherited& inherited,
          Signals& signals, Witness& witness, std::vector<pid_t> own = {});

  Ended wait();

 private:
  void take(const Signal& signal);
  void reap();
  void note(int status);
  void stop_with_it();

  Signals& signals_;
  Witness& witness_;
  std::vector<pid_t> own_;  ///< children that are not the command's
  pid_t process_;
  std::optional<int> status_;  ///< of waitpid
  int stop_ = 0;               ///< the signal that asked us and the command to stop
  bool stopped_ = false;
  bool told_to_end_ = false;
};

}  // namespace parajoule::measure
