#pragma once

#include <deque>
#include <optional>

#include <signal.h>

namespace parajoule::measure {

/// A signal that has come.
struct Signal {
  int number;
  bool sent;          ///< by a process; else by the kernel, as for a key of the terminal
  bool with_value;    ///< by sigqueue
  sigval value = {};  ///< that came with it
};

/// Whether it asks to stop, and whoever holds it back may refuse.
bool asks_to_stop(int signal);

/// All signals that can be held back, from construction on, and handed out one by one: whoever
/// stands between a person and a command must die of none of them. Those that tell of a fault of
/// this very process are left alone. One at a time in a process, before it has threads. They stay
/// held back: what comes after the command's end must not take its table away.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// To wait for with poll().
  int file() const { return file_; }

  std::optional<Signal> next();

  /// Before there is a command: 128 + n if a signal has come that is to end us, else 0. One that is
  /// to stop us does, until somebody goes on with us; others are kept for the command.
  int wants_end();

  /// Does what the signal does to a process that has not held it back.
  static void let_through(int signal);

 private:
  std::optional<Signal> arrived();

  int file_;
  std::deque<Signal> kept_;
};

}  // namespace parajoule::measure
