#include "comm/topology.h"

#include <numeric>

#include <gmock/gmock.h>

#include "base/error.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Range;
using testing::ElementsAre;
using Kind = Collective::Kind;

TEST(Topology, NumbersNodesByTheirFirstMembers) {
  const Topology group({5, 1, 4, 0}, {{0, 0, 1, 1, 2, 2}});
  EXPECT_THAT(group.nodes().node, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(group.on_node(0), ElementsAre(0, 2));
  EXPECT_THAT(group.on_node(1), ElementsAre(1, 3));
  EXPECT_EQ(group.member_of(4), 2);
}

// A block has one responsible member a node, which is its owner where that sits; the members of a
// node share the blocks as evenly as can be.
TEST(Topology, SharesResponsibility) {
  for (const auto& nodes :
       {std::vector<int>{0, 0, 1, 1}, {0, 1, 2}, {0, 0, 0, 1}, {0, 1, 1, 1, 1, 2}}) {
    std::vector<int> ranks(nodes.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    const Topology group(ranks, {nodes});
    for (int node = 0; node < group.node_count(); ++node) {
      std::vector<int> blocks(nodes.size(), 0);
      for (int block = 0; block < group.size(); ++block) {
        const int member = group.responsible(node, block);
        EXPECT_EQ(group.node_of(member), node);
        if (group.node_of(block) == node) {
          EXPECT_EQ(member, block);
        }
        ++blocks[std::size_t(member)];
      }
      for (int member : group.on_node(node)) EXPECT_GE(blocks[std::size_t(member)], 1);
    }
  }
}

std::vector<std::size_t> lengths(const Collective& call, int members) {
  std::vector<std::size_t> result;
  std::size_t end = 0;
  for (Range block : blocks(call, members)) {
    EXPECT_EQ(block.begin, end);
    end = block.end;
    result.push_back(block.size());
  }
  EXPECT_EQ(end, call.values.count());
  return result;
}

TEST(Blocks, AreWholeCacheLinesOfSums) {
  const base::Vector values(nullptr, 100, Element::float32);
  EXPECT_THAT(lengths({.kind = Kind::sum, .values = values}, 3), ElementsAre(48, 32, 20));
  EXPECT_THAT(lengths({.kind = Kind::sum, .values = values}, 8),
              ElementsAre(16, 16, 16, 16, 16, 16, 4, 0));
}

TEST(Blocks, AreAsEvenAsPossibleOfParts) {
  const base::Vector values(nullptr, 10, Element::float32);
  EXPECT_THAT(lengths({.kind = Kind::all_gather, .values = values}, 4), ElementsAre(3, 3, 2, 2));
  EXPECT_THAT(lengths({.kind = Kind::reduce_scatter, .values = values, .lengths = {0, 9, 1}}, 3),
              ElementsAre(0, 9, 1));
  EXPECT_THROW(blocks({.kind = Kind::all_gather, .values = values, .lengths = {5, 6}}, 2),
               base::Error);
  EXPECT_THROW(blocks({.kind = Kind::all_gather, .values = values, .lengths = {10}}, 2),
               base::Error);
}

}  // namespace
}  // namespace parajoule::comm
