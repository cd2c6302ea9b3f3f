#pragma once

// Starting another program and reading what it prints.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/error.h"
#include "cli/verdict.h"

namespace parajoule::cli {

struct Command {
  std::vector<std::string> words;                       ///< the program, then its arguments
  std::map<std::string, std::string> environment = {};  ///< set in addition
};

/// Error{environment} that names the program.
class NotStarted : public base::Error {
 public:
  NotStarted(const std::string& program, int code);
  const int code;  ///< of the system: ENOENT where there is no such program
};

/// A program that runs in a session of its own, so that a terminal's signals reach only us, with
/// its output and its errors in pipes and nothing to read. It is told to end (TERM) if we die.
/// Until it installs a handler it ignores USR1.
class Child {
 public:
  enum Stream { output, errors };

  /// Throws NotStarted if it cannot be started.
  explicit Child(const Command& command);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  int pipe_of(Stream stream) const { return pipes_[stream]; }

  /// What has arrived, without waiting; empty when there is nothing, none at the end.
  std::optional<std::string> read(Stream stream);

  void tell(int signal) const;
  /// At once: the program and what is left in its group of processes.
  void kill_group() const;

  /// How it ended, if it has. Does not wait.
  std::optional<Exit> ended();
  Exit wait();

 private:
  pid_t process_ = 0;
  std::array<int, 2> pipes_{-1, -1};
  std::optional<int> status_;  ///< of waitpid
};

struct Result {
  Exit exit;
  std::string output;
};

/// Runs a command to its end; its errors go where ours go.
Result run(const Command& command);

/// Becomes the program. Returns only by throwing NotStarted.
[[noreturn]] void become(const Command& command);

/// The path of this executable, and that of `libexec/parajoule/parajoule-train` beside its `bin/`.
std::string own_program();
std::string train_program();

}  // namespace parajoule::cli
