#pragma once

// A group of ranks in virtual time and the collectives under way in it.

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "comm/topology.h"
#include "simulate/costs.h"
#include "simulate/kernel.h"
#include "simulate/links.h"

namespace parajoule::simulate {

/// The members of groups of one list.
struct Members {
  Members(std::vector<int> ranks, const Places& places, Sum sum)
      : topology(std::move(ranks), places.nodes()), costs(topology, places, sum) {}
  const comm::Topology topology;
  const Costs costs;
};

class Gathering;

/// One group: shared by its members.
class Circle {
 public:
  Circle(Kernel& kernel, std::shared_ptr<const Members> members, std::uint64_t context)
      : kernel(kernel), members(std::move(members)), context(context) {
    sequences_.resize(std::size_t(this->members->topology.size()));
  }

  /// `member`, the rank that runs, comes to its next collective.
  std::unique_ptr<comm::Pending::Transfer> start(const comm::Collective& call, int member);

  Kernel& kernel;
  const std::shared_ptr<const Members> members;
  const std::uint64_t context;  ///< tells its messages from those of other groups

 private:
  std::vector<std::uint64_t> sequences_;  ///< collectives each member has come to
  std::map<std::uint64_t, std::shared_ptr<Gathering>> open_;  ///< that some have not come to
};

/// All circles of a world.
class Circles {
 public:
  Circles(Kernel& kernel, const Places& places) : kernel_(kernel), places_(places) {}

  /// The group of these ranks of the world that `rank` makes now: that of the same number among
  /// the groups which the other members make of this list.
  std::shared_ptr<Circle> join(const std::vector<int>& ranks, int rank);

 private:
  struct List {
    std::shared_ptr<const Members> members;
    std::map<int, std::size_t> made;  ///< by rank of the world
    /// Those that not every member has joined, by number.
    struct Open {
      std::shared_ptr<Circle> circle;
      std::size_t joined = 0;
    };
    std::map<std::size_t, Open> open;
  };

  Kernel& kernel_;
  const Places& places_;
  std::map<std::vector<int>, List> lists_;
  std::uint64_t circles_ = 0;
};

}  // namespace parajoule::simulate
