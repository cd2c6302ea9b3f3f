#include "train/stop.h"

#include <array>
#include <atomic>

#include <signal.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

constexpr std::array listened = {SIGUSR1, SIGTERM, SIGHUP, SIGINT, SIGXFSZ};

// A handler may touch lock-free atomics only. Zero: no signal has come.
std::atomic<int> first_signal{0};
std::atomic<int> interrupts{0};
static_assert(std::atomic<int>::is_always_lock_free);

std::atomic<bool> listening{false};
std::array<struct sigaction, listened.size()> before;

void note(int signal_number) {
  int none = 0;
  first_signal.compare_exchange_strong(none, signal_number);
  if (signal_number != SIGINT || ++interrupts < 2) return;
  ::signal(SIGINT, SIG_DFL);
  ::raise(SIGINT);
}

/// Whoever started us with nohup, or in the background, does not want these noticed.
bool turned_off(int signal_number, const struct sigaction& before) {
  const bool of_terminal = signal_number == SIGHUP || signal_number == SIGINT;
  return of_terminal && before.sa_handler == SIG_IGN;
}

}  // namespace

Stop::Stop() {
  base::ensure(!listening.exchange(true), "a process listens for the wish to stop once");
  first_signal = 0;
  interrupts = 0;
  struct sigaction action {};
  action.sa_flags = SA_RESTART;  // reads and waits of libraries go on
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < listened.size(); ++i) {
    action.sa_handler = listened[i] == SIGXFSZ ? SIG_IGN : note;
    sigaction(listened[i], &action, &before[i]);
    if (turned_off(listened[i], before[i])) sigaction(listened[i], &before[i], nullptr);
  }
}

Stop::~Stop() {
  for (std::size_t i = 0; i < listened.size(); ++i) {
    sigaction(listened[i], &before[i], nullptr);
  }
  listening = false;
}

std::optional<int> Stop::signal() const {
  const int number = first_signal;
  if (number == 0) return std::nullopt;
  return number;
}

}  // namespace parajoule::train
