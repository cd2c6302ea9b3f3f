#include "measure/signals.h"

#include <cstdint>
#include <initializer_list>

#include <sys/signalfd.h>
#include <unistd.h>

namespace parajoule::measure {
namespace {

bool ignored(int signal) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

/// What the kernel raises where a write of this very process fails, which the write tells as well:
/// nothing that was sent, to us or to the command.
bool of_own_write(const signalfd_siginfo& info) {
  return (info.ssi_signo == SIGXFSZ || info.ssi_signo == SIGPIPE) &&
         info.ssi_pid == std::uint32_t(getpid());
}

}  // namespace

bool asks_to_stop(int signal) {
  return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

Signals::Signals() {
  sigset_t all;
  sigfillset(&all);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&all, fault);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  file_ = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() { close(file_); }

std::optional<Signal> Signals::next() {
  if (!kept_.empty()) {
    const Signal signal = kept_.front();
    kept_.pop_front();
    return signal;
  }
  return arrived();
}

int Signals::wants_end() {
  while (const auto signal = arrived()) {
    const int number = signal->number;
    for (const int ending : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
      if (number == ending && !ignored(ending)) return 128 + ending;
    if (asks_to_stop(number) && !ignored(number))
      let_through(number);
    else if (number != SIGCONT)
      kept_.push_back(*signal);
  }
  return 0;
}

void Signals::let_through(int signal) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

std::optional<Signal> Signals::arrived() {
  signalfd_siginfo info{};
  do {
    if (read(file_, &info, sizeof info) != ssize_t(sizeof info)) return {};
  } while (of_own_write(info));
  Signal signal{
      .number = int(info.ssi_signo),
      .sent = info.ssi_code == SI_USER || info.ssi_code == SI_QUEUE || info.ssi_code == SI_TKILL,
      .with_value = info.ssi_code == SI_QUEUE};
  signal.value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
  return signal;
}

}  // namespace parajoule::measure
