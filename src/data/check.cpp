#include "data/check.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::data {

namespace {

class Round {
 public:
  Round(const Dataset& dataset, const std::function<void(std::int64_t)>& seen)
      : dataset_(dataset), seen_(seen) {}

  void work() {
    while (!stopped_) {
      const std::int64_t index = next_++;
      if (index >= dataset_.size()) return;
      try {
        look(index);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_ = std::current_exception();
        stopped_ = true;
      }
    }
  }

  Checked result() {
    if (failure_) std::rethrow_exception(failure_);
    std::ranges::sort(found_.bad, {}, &Checked::Finding::index);
    std::ranges::sort(found_.damaged);
    return std::move(found_);
  }

 private:
  void look(std::int64_t index) {
    int warnings = 0;
    std::string bad;
    try {
      warnings = dataset_.picture(index).warnings;
    } catch (const base::Error& error) {
      if (error.fault != base::Fault::input) throw;
      bad = error.what();
    }
    const std::lock_guard lock(mutex_);
    if (!bad.empty()) found_.bad.push_back({index, bad});
    if (warnings > 0) found_.damaged.push_back(index);
    if (++found_.samples % samples_a_call == 0) seen_(found_.samples);
  }

  static constexpr std::int64_t samples_a_call = 100;

  const Dataset& dataset_;
  const std::function<void(std::int64_t)>& seen_;
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // guards what follows
  Checked found_;
  std::exception_ptr failure_;
};

}  // namespace

Checked check(const Dataset& dataset, int threads, const std::function<void(std::int64_t)>& seen) {
  base::ensure(threads >= 1, "a check has a thread");
  Round round(dataset, seen);
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([&] { round.work(); });
    round.work();
  }
  return round.result();
}

}  // namespace parajoule::data
