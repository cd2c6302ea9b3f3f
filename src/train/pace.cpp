#include "train/pace.h"

namespace parajoule::train {
namespace {

constexpr base::Seconds moments{5};

void accumulate(Standing& sum, const Standing& step, double sign) {
  sum.samples += sign * step.samples;
  sum.loss += sign * step.loss;
  sum.wrong += sign * step.wrong;
}

}  // namespace

void Pace::add(base::Seconds now, const Standing& step) {
  steps_.push_back({now, step});
  accumulate(sum_, step, 1);
  while (steps_.size() > 2 && now - steps_.front().at > moments) {
    accumulate(sum_, steps_.front().standing, -1);
    steps_.pop_front();
  }
}

double Pace::loss() const { return sum_.samples > 0 ? sum_.loss / sum_.samples : 0; }

double Pace::top1_error() const { return sum_.samples > 0 ? 100 * sum_.wrong / sum_.samples : 0; }

double Pace::samples_per_second() const {
  if (steps_.size() < 2) return 0;
  // The first step began before the moments did.
  const double samples = sum_.samples - steps_.front().standing.samples;
  const base::Seconds length = steps_.back().at - steps_.front().at;
  return length.count() > 0 ? samples / length.count() : 0;
}

std::optional<base::Seconds> Pace::time_for(double samples) const {
  const double pace = samples_per_second();
  if (pace <= 0) return std::nullopt;
  return base::Seconds(samples / pace);
}

}  // namespace parajoule::train
