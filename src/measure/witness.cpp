#include "measure/witness.h"

#include <ctime>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

constexpr int patience_milliseconds = 200;
constexpr int most_files = 1024;
constexpr long close_range_number = 436;  // since Linux 5.9, of one number on all machines

/// In the new process, which may only make system calls, for the old one may have threads: answers
/// each number of a signal with that number, or 0 if it has not come, until nobody can ask.
[[noreturn]] void answer(int line) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  // A pipe that we hold open would not end for its readers.
  for (int file = 0; file < line; ++file) close(file);
  if (syscall(close_range_number, unsigned(line + 1), ~0U, 0U) != 0)
    for (int file = line + 1; file < most_files; ++file) close(file);
  unsigned char signal = 0;
  while (read(line, &signal, 1) == 1) {
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, signal);
    const timespec at_once{};
    if (sigtimedwait(&asked, nullptr, &at_once) != signal) signal = 0;
    if (write(line, &signal, 1) != 1) break;
  }
  _exit(0);
}

}  // namespace

Witness::Witness() { start(); }

Witness::~Witness() { end(); }

void Witness::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // none may come before it holds them back
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);
    answer(ends[1]);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(ends[1]);
  line_ = ends[0];
  if (process_ < 0) end();
}

void Witness::end() {
  if (line_ >= 0) close(line_);
  line_ = -1;
  if (process_ < 0) return;
  kill(process_, SIGKILL);  // collected with the other children, or by nobody
  process_ = -1;
}

bool Witness::got(int signal) {
  if (line_ < 0) return false;
  auto number = static_cast<unsigned char>(signal);
  pollfd answer{line_, POLLIN, 0};
  if (send(line_, &number, 1, MSG_NOSIGNAL) == 1 && poll(&answer, 1, patience_milliseconds) == 1 &&
      read(line_, &number, 1) == 1)
    return number == signal;
  // A SIGSTOP to the whole group stops it, and a SIGCONT to this process alone lets it lie.
  end();
  start();
  return false;
}

}  // namespace parajoule::measure
