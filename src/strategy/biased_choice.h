#pragma once

// Which samples biased local SGD gives to whom: pure functions, the same on every rank.

#include <cstdint>
#include <span>
#include <vector>

#include "base/seed.h"

namespace parajoule::strategy {

/// `count` of the samples 0 ... of - 1, each at most once, all as likely, in a random order.
std::vector<std::int64_t> drawn(std::int64_t count, std::int64_t of, base::Stream& stream);

/// The `count` of `candidates` with the greatest losses, in a random order. `losses`: of each
/// sample of the training set. Of equal losses the earlier candidate counts as the greater; no loss
/// yet (infinity) and no number are the greatest.
std::vector<std::int64_t> hardest(std::int64_t count, std::vector<std::int64_t> candidates,
                                  std::span<const double> losses, base::Stream& stream);

}  // namespace parajoule::strategy
