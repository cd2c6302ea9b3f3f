#include "strategy/rounds.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"

namespace parajoule::strategy {
namespace {

constexpr std::int64_t longest = 1'000'000;
/// Shares are divided in double precision: they differ from their ratio by less, and another ratio
/// of numbers as large as this by more.
constexpr double tolerance = 1e-13;

/// The steps of each rank in a round of this length, if they are whole.
std::optional<Rounds> rounds_of(std::span<const Part> parts, double largest, std::int64_t length) {
  Rounds rounds{.length = length, .steps = {}};
  for (const Part& part : parts) {
    const double steps = part.trains ? part.share / largest * double(length) : 0;
    const double whole = std::round(steps);
    if (std::abs(steps - whole) > tolerance * double(length)) return std::nullopt;
    rounds.steps.push_back(std::int64_t(whole));
  }
  return rounds;
}

}  // namespace

Rounds rounds_of(std::span<const Part> parts) {
  double largest = 0;
  for (const Part& part : parts)
    if (part.trains) largest = std::max(largest, part.share);
  base::ensure(largest > 0, "some rank trains");
  for (std::int64_t length = 1; length <= longest; ++length)
    if (auto rounds = rounds_of(parts, largest, length)) return *std::move(rounds);
  throw base::Error(base::Fault::usage,
                    "the shares of the ranks are not in the ratio of whole numbers up to a "
                    "million; choose numbers of steps that have a common multiple");
}

}  // namespace parajoule::strategy
