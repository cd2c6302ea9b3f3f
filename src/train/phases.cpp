#include "train/phases.h"

#include <utility>

#include <time.h>

#include "base/error.h"

namespace parajoule::train {

base::Seconds monotonic_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return base::Seconds(double(now.tv_sec)) + base::Seconds(double(now.tv_nsec) * 1e-9);
}

Phases::Span Phases::enter(Phase phase) {
  base::ensure(!open_, "a rank is in one phase at a time");
  open_ = Open{phase, monotonic_now()};
  return Span(*this);
}

void Phases::leave() {
  const base::Seconds end = monotonic_now();
  totals_[std::size_t(open_->phase)] += end - open_->begin;
  ended_.push_back({open_->phase, open_->begin, end});
  open_.reset();
}

std::vector<Phases::Interval> Phases::take() { return std::exchange(ended_, {}); }

}  // namespace parajoule::train
