#include "schedule/wait_free.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace parajoule::schedule {
namespace {

using base::Seconds;

Seconds total(std::span<const Seconds> times) {
  return std::accumulate(times.begin(), times.end(), Seconds(0));
}

}  // namespace

SumCost fitted(std::span<const double> bytes, std::span<const Seconds> times) {
  base::ensure(!bytes.empty() && bytes.size() == times.size(), "each timed sum has a size");
  const double n = double(bytes.size());
  const double mean_bytes = std::accumulate(bytes.begin(), bytes.end(), 0.0) / n;
  const Seconds mean_time = total(times) / n;
  double spread = 0;
  Seconds slope{0};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    spread += (bytes[i] - mean_bytes) * (bytes[i] - mean_bytes);
    slope += (times[i] - mean_time) * (bytes[i] - mean_bytes);
  }
  if (spread == 0) {
    return {.per_byte = mean_bytes == 0 ? Seconds(0) : mean_time / mean_bytes};
  }
  const Seconds per_byte = std::max(Seconds(0), slope / spread);
  return {.start = std::max(Seconds(0), mean_time - per_byte * mean_bytes), .per_byte = per_byte};
}

Seconds end_of_sums(std::span<const Gradient> gradients, std::span<const std::size_t> merged,
                    SumCost cost) {
  Seconds end{0};
  std::size_t next = 0;
  for (std::size_t layers : merged) {
    double bytes = 0;
    for (std::size_t i = 0; i < layers; ++i) bytes += gradients[next + i].bytes;
    const Seconds ready = gradients[next + layers - 1].ready;
    end = (next == 0 ? ready : std::max(end, ready)) + cost.of(bytes);
    next += layers;
  }
  base::ensure(next == gradients.size(), "every layer is in one sum");
  return end;
}

std::vector<std::size_t> merged_sums(std::span<const Gradient> gradients, SumCost cost) {
  if (gradients.empty()) return {};
  std::vector<std::size_t> merged{1};
  Seconds free = gradients[0].ready;  // when the sums before this one have ended
  Seconds start = free;
  double bytes = gradients[0].bytes;
  for (const Gradient& next : gradients.subspan(1)) {
    const Seconds end = start + cost.of(bytes);
    if (next.ready < end && (start > next.ready || next.ready - start < cost.start)) {
      ++merged.back();
      bytes += next.bytes;
    } else {
      merged.push_back(1);
      free = end;
      bytes = next.bytes;
    }
    start = std::max(free, next.ready);
  }
  return merged;
}

Seconds in_turn(const Iteration& i) {
  return i.input + i.copy + i.forward + total(i.backward) + total(i.sum) + i.update;
}

Seconds reading_ahead(const Iteration& i) {
  return std::max(i.input + i.copy, i.forward + total(i.backward) + total(i.sum) + i.update);
}

Seconds wait_free(const Iteration& i) {
  base::ensure(i.backward.size() == i.sum.size(), "each layer has a sum");
  Seconds ready{0};
  Seconds end{0};
  for (std::size_t layer = 0; layer < i.sum.size(); ++layer) {
    ready += i.backward[layer];
    end = std::max(end, ready) + i.sum[layer];
  }
  return std::max(i.input + i.copy, i.forward + std::max(end, ready) + i.update);
}

}  // namespace parajoule::schedule
