#include "cli/process.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parajoule::cli {
namespace {

/// For what `program` is to say.
std::array<int, 2> new_pipe(const std::string& program) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw NotStarted(program, errno);
  return ends;
}

std::vector<char*> as_c(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

void add_to_environment(const Command& command) {
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
}

void unblock_signals() {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
}

Exit exit_of(int status) {
  if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
  return {.code = WEXITSTATUS(status), .signal = {}};
}

void detach(pid_t parent) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  signal(SIGUSR1, SIG_IGN);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
}

/// In the new process: becomes the program, or writes the error number to `failure`.
[[noreturn]] void start(const Command& command, int failure) {
  add_to_environment(command);
  std::vector<std::string> words = command.words;
  unblock_signals();
  execvp(words[0].c_str(), as_c(words).data());
  const int code = errno;
  [[maybe_unused]] const ssize_t told = write(failure, &code, sizeof code);
  _exit(127);
}

/// Waits until the new process has become the program, or throws.
void started(const Command& command, int failure, pid_t process) {
  int code = 0;
  const ssize_t told = read(failure, &code, sizeof code);
  close(failure);
  if (told != sizeof code) return;
  waitpid(process, nullptr, 0);
  throw NotStarted(command.words[0], code);
}

}  // namespace

NotStarted::NotStarted(const std::string& program, int code)
    : base::Error(base::Fault::environment,
                  fmt::format("cannot start {}: {}", program, std::strerror(code))),
      code(code) {}

Child::Child(const Command& command) {
  const auto out = new_pipe(command.words[0]);
  const auto err = new_pipe(command.words[0]);
  const auto failure = new_pipe(command.words[0]);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw NotStarted(command.words[0], errno);
  if (process_ == 0) {
    detach(parent);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    start(command, failure[1]);
  }
  for (int end : {out[1], err[1], failure[1]}) close(end);
  pipes_ = {out[0], err[0]};
  for (int end : pipes_) fcntl(end, F_SETFL, O_NONBLOCK);
  started(command, failure[0], process_);
}

Child::~Child() {
  for (int end : pipes_) {
    if (end >= 0) close(end);
  }
}

std::optional<std::string> Child::read(Stream stream) {
  std::array<char, 65536> buffer;
  const ssize_t length = ::read(pipes_[stream], buffer.data(), buffer.size());
  if (length > 0) return std::string(buffer.data(), std::size_t(length));
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return "";
  return {};
}

void Child::tell(int signal) const {
  if (!status_) kill(process_, signal);
}

void Child::kill_group() const {
  if (!status_) kill(-process_, SIGKILL);
}

std::optional<Exit> Child::ended() {
  int status = 0;
  if (!status_ && waitpid(process_, &status, WNOHANG) == process_) status_ = status;
  if (!status_) return {};
  return exit_of(*status_);
}

Exit Child::wait() {
  int status = 0;
  while (!status_) {
    if (waitpid(process_, &status, 0) == process_) status_ = status;
  }
  return exit_of(*status_);
}

Result run(const Command& command) {
  const auto out = new_pipe(command.words[0]);
  const auto failure = new_pipe(command.words[0]);
  const pid_t process = fork();
  if (process < 0) throw NotStarted(command.words[0], errno);
  if (process == 0) {
    dup2(out[1], STDOUT_FILENO);
    start(command, failure[1]);
  }
  close(out[1]);
  close(failure[1]);
  started(command, failure[0], process);
  Result result;
  std::array<char, 65536> buffer;
  for (ssize_t length; (length = read(out[0], buffer.data(), buffer.size())) > 0;) {
    result.output.append(buffer.data(), std::size_t(length));
  }
  close(out[0]);
  int status = 0;
  waitpid(process, &status, 0);
  result.exit = exit_of(status);
  return result;
}

void become(const Command& command) {
  add_to_environment(command);
  std::vector<std::string> words = command.words;
  execvp(words[0].c_str(), as_c(words).data());
  throw NotStarted(words[0], errno);
}

std::string own_program() {
  std::error_code failed;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) return program.string();
  // Without /proc: the name that the kernel was given.
  const auto* given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (given) program = std::filesystem::canonical(given, failed);
  if (!given || failed)
    throw base::Error(base::Fault::environment,
                      "cannot tell where this program lies: there is no /proc (mount -t proc proc "
                      "/proc)");
  return program.string();
}

std::string train_program() {
  const auto folder = std::filesystem::path(own_program()).parent_path().parent_path();
  return (folder / "libexec" / "parajoule" / "parajoule-train").string();
}

}  // namespace parajoule::cli
