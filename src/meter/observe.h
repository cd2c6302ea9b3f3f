#pragma once

// Reads sources for a short time to find out what no description can promise: whether they answer
// here, how often the device renews its number, and what a read costs.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// The time as functions, so that tests bring their own.
struct Pace {
  std::function<base::Seconds()> now;
  std::function<void(base::Seconds)> pause;
};

/// The monotonic clock of this node.
Pace node_pace();

/// What one source showed.
struct Observed {
  std::size_t reads = 0;
  std::size_t failed = 0;               ///< of them, those that gave no value
  std::optional<std::string> gap = {};  ///< the first of those, in words
  base::Seconds cost{0};                ///< of a read, the median
  bool moved = false;                   ///< two values differed
  /// From one new number to the next: the median of a counter, whose every renewal is seen while
  /// anything draws power; of other numbers the lower quartile, for equal ones follow each other.
  /// None of fewer than three renewals.
  std::optional<base::Seconds> update = {};
  /// The number was new at nearly every read, so the device is at least as quick as `update`.
  bool quicker = false;
};

/// Reads all sources for about `length`, each about eight times in the period it states, but none
/// more often than every 0.2 ms. In the order of `sources`; each is read at least twice.
std::vector<Observed> observe(std::span<const std::unique_ptr<Source>> sources,
                              base::Seconds length, const Pace& pace = node_pace());

}  // namespace parajoule::meter
