#include "measure/command.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

constexpr int no_such_program = 127;
constexpr int no_program = 126;
constexpr int no_environment = 3;

int status_for(int code) {
  if (code == EAGAIN || code == ENOMEM || code == EMFILE || code == ENFILE) return no_environment;
  return code == ENOENT ? no_such_program : no_program;
}

std::vector<char*> as_c(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& more) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!more.contains(std::string(text.substr(0, text.find('='))))) all.emplace_back(text);
  }
  for (const auto& [name, value] : more) all.push_back(fmt::format("{}={}", name, value));
  return all;
}

/// In the new process, which may only make system calls.
[[noreturn]] void become(char** words, char** environment, const sigset_t& mask, int failure) {
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execvpe(words[0], words, environment);
  const int code = errno;
  [[maybe_unused]] const ssize_t told = write(failure, &code, sizeof code);
  _exit(no_such_program);
}

base::Seconds time_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return base::Seconds(double(time.tv_sec) + 1e-6 * double(time.tv_usec));
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

NotStarted::NotStarted(const std::string& program, int code)
    : base::Error(base::Fault::environment,
                  fmt::format("cannot start '{}': {}", program, std::strerror(code))),
      status(status_for(code)) {}

Command::Command(const std::vector<std::string>& given,
                 const std::map<std::string, std::string>& more, const Inherited& inherited,
                 Signals& signals, Witness& witness, std::vector<pid_t> own)
    : signals_(signals), witness_(witness), own_(std::move(own)) {
  std::vector<std::string> words = given;
  std::vector<std::string> environment = environment_with(more);
  const std::vector<char*> words_in_c = as_c(words);
  const std::vector<char*> environment_in_c = as_c(environment);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  give_room(inherited);
  keep_other_files(inherited);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) throw NotStarted(words[0], errno);
  process_ = fork();
  const int forked = errno;
  if (process_ == 0)
    become(const_cast<char**>(words_in_c.data()), const_cast<char**>(environment_in_c.data()),
           inherited.mask, failure[1]);
  close(failure[1]);
  int code = process_ < 0 ? forked : 0;
  while (process_ > 0 && read(failure[0], &code, sizeof code) < 0 && errno == EINTR) {
  }
  close(failure[0]);
  if (code == 0) return;
  if (process_ > 0) waitpid(process_, nullptr, 0);
  throw NotStarted(words[0], code);
}

Ended Command::wait() {
  while (true) {
    while (const auto signal = signals_.next()) take(*signal);
    if (status_) break;
    pollfd file{signals_.file(), POLLIN, 0};
    poll(&file, 1, -1);
  }
  own_.push_back(witness_.process());
  Ended ended{.cpu = time_of_children(), .left = left_behind(own_)};
  for (const Left& left : ended.left) ended.cpu += left.cpu;
  ended.told_to_end = told_to_end_;
  if (WIFSIGNALED(*status_)) {
    ended.signal = WTERMSIG(*status_);
    ended.status = 128 + WTERMSIG(*status_);
  } else {
    ended.status = WEXITSTATUS(*status_);
  }
  return ended;
}

void Command::take(const Signal& signal) {
  if (signal.number == SIGCHLD) return reap();
  if (signal.number == SIGCONT) stop_ = 0;
  if (signal.number == SIGTERM) told_to_end_ = true;
  if (asks_to_stop(signal.number)) stop_ = signal.number;
  const bool alone = signal.sent && !witness_.got(signal.number);
  if (alone && !status_) {
    if (signal.with_value)
      sigqueue(process_, signal.number, signal.value);
    else
      kill(process_, signal.number);
  }
  stop_with_it();
}

void Command::reap() {
  int status = 0;
  for (pid_t process; (process = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0;)
    if (process == process_) note(status);
  stop_with_it();
}

void Command::note(int status) {
  if (WIFSTOPPED(status)) {
    stopped_ = true;
  } else if (WIFCONTINUED(status)) {
    stopped_ = false;
    stop_ = 0;
  } else {
    status_ = status;
  }
}

/// Only if we were told to stop as well: whoever stops the command alone, to go on with it soon,
/// would not wake us.
void Command::stop_with_it() {
  if (!stopped_ || stop_ == 0 || status_) return;
  Signals::let_through(std::exchange(stop_, 0));  // here we lie until somebody wakes us
  stopped_ = false;
}

}  // namespace parajoule::measure
