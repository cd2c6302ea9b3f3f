#pragma once

// Who takes a step when, if ranks take different shares of an epoch.

#include <cstdint>
#include <span>
#include <vector>

#include "strategy/catalog.h"

namespace parajoule::strategy {

/// Steps are counted as the ranks with the largest share take them. In each `length` of those a
/// rank takes `steps`, spread evenly and each as late as can be: when the quickest have taken s,
/// it has taken s * steps / length, rounded down. So wherever all stop, all have come through
/// equally many whole rounds of any method that asks for a rank's steps in this ratio.
struct Rounds {
  std::int64_t length = 1;
  std::vector<std::int64_t> steps;  ///< of each rank in a round; 0 of one that serves

  std::int64_t taken(int rank, std::int64_t quickest) const {
    return quickest * steps[std::size_t(rank)] / length;
  }
};

/// `parts`: of all ranks. Throws Error{usage} where shares are not in the ratio of whole numbers up
/// to a million.
Rounds rounds_of(std::span<const Part> parts);

}  // namespace parajoule::strategy
