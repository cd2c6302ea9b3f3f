#pragma once

// How long a round of messages takes in which the members of a group send at the same time.

#include <functional>
#include <optional>
#include <vector>

#include "comm/topology.h"
#include "simulate/links.h"

namespace parajoule::simulate {

/// Each message takes `near` if it stays in its node and `far` if not, with the bandwidth it has
/// left beside the others of the round; the round takes as long as the slowest.
struct Round {
  std::optional<Hop> near = {};
  std::optional<Hop> far = {};
  double seconds(double bytes) const;
};

/// The members of a group and the ways between them.
class Ways {
 public:
  Ways(const comm::Topology& members, const Places& places);

  int members() const { return members_.size(); }
  const comm::Topology& topology() const { return members_; }
  /// Member `from` to member `to`, alone.
  Hop hop(int from, int to) const {
    return places_.hop(members_.rank_of(from), members_.rank_of(to));
  }

  struct Message {
    int from;
    int to;
  };
  Round round(const std::vector<Message>& messages) const;
  /// Each member sends to the one `distance` further, in a circle.
  Round shift(int distance) const;
  /// Each member of `players` sends to the one whose place in the list differs in the bit
  /// `distance`; their number is a power of two.
  Round exchange(const std::vector<int>& players, int distance) const;

 private:
  const comm::Topology& members_;
  const Places& places_;
};

}  // namespace parajoule::simulate
