#pragma once

// Energies of named regions of programs.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meter/account.h"
#include "store/rows.h"

namespace parajoule::measure {

/// A device's energy while any process of the node was in a region.
struct RegionEnergy {
  std::string device;
  meter::Label label;
  std::optional<base::Joules> energy = {};
  meter::Uncertainty uncertainty = {};
  bool counts = false;  ///< as the source does in the total of the node
};

struct Region {
  std::string name;
  int node;
  std::int64_t entered = 0;  ///< times, by all processes
  base::Seconds time{0};     ///< that any of them was in it
  std::vector<RegionEnergy> energies = {};
};

/// The regions of one node, in the order in which they were first entered. `whole`: the account of
/// the node's whole span, source by source.
std::vector<Region> regions_of(std::span<const store::Phase> phases,
                               std::span<const meter::Series> series,
                               const meter::NodeAccount& whole, int node);

}  // namespace parajoule::measure
