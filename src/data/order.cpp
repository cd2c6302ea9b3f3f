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

std::int64_t Shards::steps_of(int other, std::int64_t step) const {
  const std::int64_t all = before + step;
  return paces.empty() ? all : all * paces[std::size_t(other)] / round;
}

std::int64_t Shards::taken(std::int64_t step) const {
  std::int64_t batches = paces.empty() ? step * ranks : 0;
  for (int r = 0; r < int(paces.size()); ++r) batches += steps_of(r, step) - steps_of(r, 0);
  return std::min(samples, global_batch_size * batches / ranks);
}

std::int64_t Shards::steps() const {
  const std::int64_t least = (samples + global_batch_size - 1) / global_batch_size;
  if (paces.empty()) return least;
  std::int64_t enough = std::max<std::int64_t>(1, least);
  while (taken(enough) < samples) enough *= 2;
  std::int64_t step = least;  // the first of those that are enough lies from here on
  while (step < enough) {
    const std::int64_t middle = step + (enough - step) / 2;
    if (taken(middle) < samples)
      step = middle + 1;
    else
      enough = middle;
  }
  return step;
}

base::Range Shards::whole(std::int64_t step) const {
  base::ensure(0 <= step && taken(step) < samples, "a step lies in its epoch");
  return {std::size_t(taken(step)), std::size_t(taken(step + 1))};
}

base::Range Shards::share(std::int64_t step) const {
  const auto [begin, end] = whole(step);
  int taking = ranks, place = rank;
  if (!paces.empty()) {
    taking = place = 0;
    for (int r = 0; r < ranks; ++r) {
      if (r < rank) place += takes(r, step);
      taking += takes(r, step);
    }
    if (!takes(step)) return {begin, begin};
  }
  const std::size_t first = (end - begin) * std::size_t(place) / std::size_t(taking);
  const std::size_t last = (end - begin) * std::size_t(place + 1) / std::size_t(taking);
  return {begin + first, begin + last};
}

Pass training_pass(const Shards& shards, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t first_step) {
  const std::vector<std::int64_t> all = order(shards.samples, seed, epoch);
  Pass pass;
  const std::int64_t steps = shards.steps();
  for (std::int64_t step = first_step; step < steps; ++step) {
    if (!shards.takes(step)) continue;
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
