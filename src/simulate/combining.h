#pragma once

// What a collective makes of real values.

#include <vector>

#include "comm/communicator.h"
#include "comm/topology.h"

namespace parajoule::simulate {

/// One member's part in a collective.
struct Contribution {
  base::Vector values = {};
  double factor = 1;
};

/// Leaves in everyone's values what the collective `call` promises, in the order of additions of
/// the other worlds: the ranks of a node, then the nodes. Members without elements get none, and
/// count as zeros.
void combine(const comm::Collective& call, const comm::Topology& topology,
             const std::vector<Contribution>& members);

}  // namespace parajoule::simulate
