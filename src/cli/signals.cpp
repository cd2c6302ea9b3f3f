#include "cli/signals.h"

#include <initializer_list>

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace parajoule::cli {
namespace {

/// By nohup, or by a shell in the background: held back, the signal would come all the same.
bool ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

sigset_t wanted() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGUSR1, SIGCHLD}) sigaddset(&set, signal);
  for (const int signal : {SIGHUP, SIGINT}) {
    if (!ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = wanted();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  signal(SIGPIPE, SIG_IGN);
  file_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  const sigset_t set = wanted();
  close(file_);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int Signals::next() {
  signalfd_siginfo info{};
  return read(file_, &info, sizeof info) == ssize_t(sizeof info) ? int(info.ssi_signo) : 0;
}

bool Signals::asked_to_stop() {
  bool asked = false;
  for (int signal; (signal = next()) != 0;) asked = asked || signal != SIGCHLD;
  return asked;
}

}  // namespace parajoule::cli
