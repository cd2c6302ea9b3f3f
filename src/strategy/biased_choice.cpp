#include "strategy/biased_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace parajoule::strategy {

std::vector<std::int64_t> drawn(std::int64_t count, std::int64_t of, base::Stream& stream) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(of));
  std::iota(samples.begin(), samples.end(), 0);
  for (std::size_t i = 0; i < std::size_t(count); ++i)
    std::swap(samples[i], samples[i + stream.below(samples.size() - i)]);
  samples.resize(std::size_t(count));
  return samples;
}

std::vector<std::int64_t> hardest(std::int64_t count, std::vector<std::int64_t> candidates,
                                  std::span<const double> losses, base::Stream& stream) {
  const auto loss = [&](std::int64_t sample) {
    const double value = losses[std::size_t(sample)];
    return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
  };
  std::ranges::stable_sort(candidates, [&](auto a, auto b) { return loss(a) > loss(b); });
  candidates.resize(std::size_t(count));
  std::vector<std::int64_t> shuffled;
  for (const std::int64_t place : drawn(count, count, stream))
    shuffled.push_back(candidates[std::size_t(place)]);
  return shuffled;
}

}  // namespace parajoule::strategy
