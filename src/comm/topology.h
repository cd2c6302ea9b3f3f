#pragma once

// Who sits where in a group and who does what in a collective: plain values.

#include <cstddef>
#include <map>
#include <vector>

#include "base/vector.h"
#include "comm/communicator.h"

namespace parajoule::comm {

/// The members of a group, counted from 0, and their nodes, counted from 0 in the order of their
/// first members.
///
/// Each member owns one block of the values of a collective. On each node one member is responsible
/// for a block: its owner where it sits, elsewhere the members in turn. Only that one reads the
/// block of the others of its node and writes it to them, so nothing is read or written twice.
///
///   nodes {0, 1}, {2, 3}      block  0  1  2  3
///   responsible on node 0            0  1  0  1
///   responsible on node 1            2  3  2  3
class Topology {
 public:
  /// `ranks` of the members in the world.
  Topology(std::vector<int> ranks, const Nodes& world);

  int size() const { return int(ranks_.size()); }
  const std::vector<int>& ranks() const { return ranks_; }
  int rank_of(int member) const { return ranks_[std::size_t(member)]; }
  int member_of(int rank) const { return member_.at(rank); }
  const Nodes& nodes() const { return nodes_; }
  int node_count() const { return int(on_node_.size()); }
  int node_of(int member) const { return nodes_.node[std::size_t(member)]; }
  const std::vector<int>& on_node(int node) const { return on_node_[std::size_t(node)]; }
  int responsible(int node, int block) const;

 private:
  std::vector<int> ranks_;
  std::map<int, int> member_;
  Nodes nodes_;
  std::vector<std::vector<int>> on_node_;  ///< members in order
  std::vector<int> seat_;                  ///< of each member on its node
};

/// The block of each member: the parts of a reduce_scatter or all_gather; of other collectives as
/// even as possible in whole cache lines. Lengths that do not fit the members or the count are a
/// bug.
std::vector<base::Range> blocks(const Collective& call, int members);

}  // namespace parajoule::comm
