#include "comm/topology.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

constexpr std::size_t cache_line = 64;

/// `count` elements in `parts` parts that differ by at most one grain, longer ones first.
std::vector<std::size_t> even(std::size_t count, std::size_t parts, std::size_t grain) {
  const std::size_t grains = (count + grain - 1) / grain;
  std::vector<std::size_t> lengths;
  std::size_t left = count;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t own = (grains / parts + (part < grains % parts ? 1 : 0)) * grain;
    lengths.push_back(std::min(own, left));
    left -= lengths.back();
  }
  return lengths;
}

bool has_parts(Collective::Kind kind) {
  return kind == Collective::Kind::reduce_scatter || kind == Collective::Kind::all_gather;
}

}  // namespace

Topology::Topology(std::vector<int> ranks, const Nodes& world) : ranks_(std::move(ranks)) {
  std::map<int, int> number;  // of a node of the world in this group
  for (int rank : ranks_) {
    if (!member_.emplace(rank, int(member_.size())).second)
      base::ensure(false, fmt::format("rank {} is named once in a group", rank));
    const int node =
        number.emplace(world.node[std::size_t(rank)], int(number.size())).first->second;
    if (node == node_count()) on_node_.emplace_back();
    seat_.push_back(int(on_node_[std::size_t(node)].size()));
    on_node_[std::size_t(node)].push_back(int(nodes_.node.size()));
    nodes_.node.push_back(node);
  }
}

int Topology::responsible(int node, int block) const {
  if (node_of(block) == node) return block;
  const auto& members = on_node(node);
  return members[std::size_t(seat_[std::size_t(block)]) % members.size()];
}

std::vector<base::Range> blocks(const Collective& call, int members) {
  const std::size_t count = call.values.count();
  std::vector<std::size_t> lengths = call.lengths;
  if (lengths.empty()) {
    const std::size_t grain =
        has_parts(call.kind) ? 1 : cache_line / base::bytes_of(call.values.element());
    lengths = even(count, std::size_t(members), grain);
  }
  const std::size_t total = std::accumulate(lengths.begin(), lengths.end(), std::size_t(0));
  if (int(lengths.size()) != members || total != count) {
    base::ensure(false, fmt::format("{} of {} elements over {} ranks has a length for each rank "
                                    "that add up to the count, not {} that add up to {}",
                                    name_of(call.kind), count, members, lengths.size(), total));
  }
  std::vector<base::Range> ranges;
  std::size_t begin = 0;
  for (std::size_t length : lengths) {
    ranges.push_back({begin, begin + length});
    begin += length;
  }
  return ranges;
}

}  // namespace parajoule::comm
