#include "data/order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::data {

std::vector<std::int64_t> order(std::int64_t count, std::uint64_t seed, std::int64_t epoch) {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(count));
  std::iota(samples.begin(), samples.end(), 0);
  base::Stream stream = base::stream(seed, base::Purpose::order, std::uint64_t(epoch));
  for (std::size_t left = samples.size(); left > 1; --left)
    std::swap(samples[left - 1], samples[stream.below(left)]);
  return samples;
}

std::int64_t Shards::steps() const { return (samples + global_batch_size - 1) / global_batch_size; }

base::Range Shards::whole(std::int64_t step) const {
  base::ensure(0 <= step && step < steps(), "a step lies in its epoch");
  const std::int64_t begin = step * global_batch_size;
  return {std::size_t(begin), std::size_t(std::min(samples, begin + global_batch_size))};
}

base::Range Shards::share(std::int64_t step) const {
  const auto [begin, end] = whole(step);
  const std::size_t first = (end - begin) * std::size_t(rank) / std::size_t(ranks);
  const std::size_t last = (end - begin) * std::size_t(rank + 1) / std::size_t(ranks);
  return {begin + first, begin + last};
}

Pass training_pass(const Shards& shards, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t first_step) {
  const std::vector<std::int64_t> all = order(shards.samples, seed, epoch);
  Pass pass;
  for (std::int64_t step = first_step; step < shards.steps(); ++step) {
    const base::Range share = shards.share(step);
    const std::size_t begin = pass.samples.size();
    pass.samples.insert(pass.samples.end(), all.begin() + std::ptrdiff_t(share.begin),
                        all.begin() + std::ptrdiff_t(share.end));
    pass.batches.push_back({.number = step, .range = {begin, pass.samples.size()}});
  }
  return pass;
}

Pass evaluation_pass(std::int64_t samples, std::int64_t chunk_size, int rank, int ranks) {
  Pass pass{.evaluates = true};
  const std::int64_t chunks = (samples + chunk_size - 1) / chunk_size;
  for (std::int64_t chunk = rank; chunk < chunks; chunk += ranks) {
    const std::size_t begin = pass.samples.size();
    const std::int64_t end = std::min(samples, (chunk + 1) * chunk_size);
    for (std::int64_t i = chunk * chunk_size; i < end; ++i) pass.samples.push_back(i);
    pass.batches.push_back({.number = chunk, .range = {begin, pass.samples.size()}});
  }
  return pass;
}

}  // namespace parajoule::data
