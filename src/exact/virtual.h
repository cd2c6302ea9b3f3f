#pragma once

// A problem in virtual time.

#include "exact/clock.h"
#include "exact/problem.h"
#include "simulate/options.h"
#include "simulate/world.h"

namespace parajoule::exact {

/// Of the rank that runs in `world`, which outlives it.
Clock clock_of(simulate::World& world);

/// Ranks whose transfers take what the problem's link says, and whose vector operations take no
/// time; all on one node if `ranks_per_node` is none.
simulate::Options virtual_options(const Problem& problem, std::optional<int> ranks_per_node);

}  // namespace parajoule::exact
