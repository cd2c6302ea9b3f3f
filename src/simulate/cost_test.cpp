// What collectives cost by their formulas, against their messages one by one.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/sums.h"
#include "simulate/wire_test.h"

namespace parajoule::simulate {
namespace {

using base::Element;
using base::Seconds;
using base::Vector;
using comm::Communicator;

constexpr std::size_t count = 840 * 100;  ///< bytes; every group here has even parts

/// A message of `bytes` to one member and one from another, both at once; -1: none.
void exchange(Communicator& group, std::size_t bytes, int to, int from) {
  std::vector<std::byte> out(bytes), in(bytes);
  comm::Pending receiving, sending;
  if (from >= 0) receiving = group.start_receive(Vector(std::span(in)), from, 1);
  if (to >= 0) sending = group.start_send(Vector(std::span(out)), to, 1);
  receiving.wait();
  sending.wait();
}

void ring(Communicator& group) {
  const int n = group.size();
  for (int step = 0; step < 2 * (n - 1); ++step)
    exchange(group, count / std::size_t(n), (group.rank() + 1) % n, (group.rank() + n - 1) % n);
}

/// Among the `size` ranks from `first` on; `back` in the opposite order.
void halving(Communicator& group, int first, int size, bool back) {
  std::vector<int> distances;
  for (int distance = 1; distance < size; distance *= 2) distances.push_back(distance);
  if (back) std::ranges::reverse(distances);
  for (int distance : distances) {
    const int partner = first + ((group.rank() - first) ^ distance);
    exchange(group, count / std::size_t(2 * distance), partner, partner);
  }
}

void halving_doubling(Communicator& group) {
  const int n = group.size();
  int power = 1;
  while (2 * power <= n) power *= 2;
  const int pairs = n - power;
  const int own = group.rank();
  const bool paired = own < 2 * pairs;
  const bool even = own % 2 == 0;
  if (paired) {
    exchange(group, count / 2, own ^ 1, own ^ 1);
    exchange(group, count / 2, even ? -1 : own - 1, even ? own + 1 : -1);
  }
  std::vector<int> players;
  for (int rank = 0; rank < n; ++rank)
    if (rank >= 2 * pairs || rank % 2 == 0) players.push_back(rank);
  if (!paired || even) halving(*group.group(players), 0, power, false);
  if (!paired || even) halving(*group.group(players), 0, power, true);
  if (paired) exchange(group, count, even ? own + 1 : -1, even ? -1 : own - 1);
}

void binary_blocks(Communicator& group) {
  struct Block {
    int first, size;
  };
  std::vector<Block> blocks;
  for (int first = 0; first < group.size();) {
    int size = 1;
    while (2 * size <= group.size() - first) size *= 2;
    blocks.push_back({first, size});
    first += size;
  }
  std::size_t at = 0;
  while (group.rank() >= blocks[at].first + blocks[at].size) ++at;
  const Block own = blocks[at];
  const int index = group.rank() - own.first;
  const std::size_t share = count / std::size_t(own.size);
  const int below =
      at + 1 < blocks.size() ? blocks[at + 1].first + index % blocks[at + 1].size : -1;
  halving(group, own.first, own.size, false);
  if (below >= 0) exchange(group, share, -1, below);
  if (at > 0) {
    const Block larger = blocks[at - 1];
    const std::size_t piece = count / std::size_t(larger.size);
    std::vector<std::byte> memory(piece);
    std::vector<comm::Pending> sends, receives;
    for (int other = index; other < larger.size; other += own.size)
      sends.push_back(group.start_send(Vector(std::span(memory)), larger.first + other, 1));
    for (comm::Pending& one : sends) one.wait();
    std::vector<std::vector<std::byte>> in(std::size_t(larger.size), memory);
    for (int other = index; other < larger.size; other += own.size)
      receives.push_back(
          group.start_receive(Vector(std::span(in[std::size_t(other)])), larger.first + other, 1));
    for (comm::Pending& one : receives) one.wait();
  }
  if (below >= 0) exchange(group, share, below, -1);
  halving(group, own.first, own.size, true);
}

void tree(Communicator& group) {
  const int own = group.rank();
  std::vector<int> children;
  int bit = 1;
  for (; bit < group.size() && !(own & bit); bit *= 2)
    if (own + bit < group.size()) children.push_back(own + bit);
  for (int child : children) exchange(group, count, -1, child);
  if (own != 0) exchange(group, count, own - bit, -1);
  if (own != 0) exchange(group, count, -1, own - bit);
  std::ranges::reverse(children);
  for (int child : children) exchange(group, count, child, -1);
}

struct Algorithm {
  Sum sum;
  void (*messages)(Communicator&);
};
constexpr Algorithm algorithms[] = {{Sum::ring, ring},
                                    {Sum::halving_doubling, halving_doubling},
                                    {Sum::binary_blocks, binary_blocks},
                                    {Sum::tree, tree}};

/// All at once; one late; each at a moment of its own.
std::vector<std::vector<double>> arrivals(int ranks) {
  std::vector<std::vector<double>> all{std::vector<double>(std::size_t(ranks), 0.0)};
  for (int late = 0; late < ranks; ++late) {
    all.emplace_back(std::size_t(ranks), 0.0);
    all.back()[std::size_t(late)] = 1.3e-4;
  }
  all.emplace_back();
  for (int rank = 0; rank < ranks; ++rank) all.back().push_back(1e-5 * ((rank * 37) % 11));
  return all;
}

TEST(SumCost, IsThatOfItsMessages) {
  for (const Algorithm& algorithm : algorithms) {
    for (int ranks = 2; ranks <= 8; ++ranks) {
      for (const auto& came : arrivals(ranks)) {
        const Options options{.node = wire, .sum = algorithm.sum};
        const auto by_formula = times(options, came, [](Communicator& group) {
          group.sum(group.allocate(Element::byte, count));
        });
        const auto by_messages = times(options, came, algorithm.messages);
        for (int rank = 0; rank < ranks; ++rank) {
          const double right = by_messages[std::size_t(rank)];
          EXPECT_NEAR(by_formula[std::size_t(rank)], right, 1e-9 * right)
              << int(algorithm.sum) << ": rank " << rank << " of " << ranks;
        }
      }
    }
  }
}

TEST(SumCost, IsThatOfTheMessagesOfTheRealAlgorithms) {
  for (const comm::Sum& sum : comm::sums()) {
    if (sum.name == "auto") continue;
    for (int ranks = 2; ranks <= 8; ++ranks) {
      for (int per_node : {ranks, 2}) {
        // Of links that differ only the two levels know.
        if (per_node != ranks && sum.name != "hierarchical") continue;
        for (const auto& came : arrivals(ranks)) {
          Options options{.ranks_per_node = per_node, .node = wire, .sum = sum_named(sum.name)};
          options.network = {.latency = Seconds(5e-5), .bytes_per_second = 1e8};
          const auto body = [](Communicator& group) {
            group.sum(group.allocate(Element::byte, count));
          };
          const auto by_formula = times(options, came, body);
          options.expand = true;
          const auto by_messages = times(options, came, body);
          for (std::size_t rank = 0; rank < came.size(); ++rank)
            EXPECT_NEAR(by_formula[rank], by_messages[rank], 1e-9 * by_messages[rank])
                << sum.name << ": rank " << rank << " of " << ranks;
        }
      }
    }
  }
}

TEST(SumCost, SendsWhatItsMessagesDo) {
  for (const Algorithm& algorithm : algorithms) {
    for (int ranks = 2; ranks <= 8; ++ranks) {
      World by_formula(ranks, {.sum = algorithm.sum});
      World by_messages(ranks, {});
      by_formula.run([](Communicator& group) { group.sum(group.allocate(Element::byte, count)); });
      by_messages.run(algorithm.messages);
      for (std::size_t rank = 0; rank < std::size_t(ranks); ++rank) {
        EXPECT_EQ(by_formula.accounts()[rank].traffic.bytes,
                  by_messages.accounts()[rank].traffic.bytes)
            << int(algorithm.sum) << ": rank " << rank << " of " << ranks;
        EXPECT_EQ(by_formula.accounts()[rank].traffic.messages,
                  by_messages.accounts()[rank].traffic.messages)
            << int(algorithm.sum) << ": rank " << rank << " of " << ranks;
      }
    }
  }
}

double last(const std::vector<double>& times) { return *std::ranges::max_element(times); }

double seconds(Sum sum, int ranks, std::size_t bytes, const Options& links) {
  Options options = links;
  options.sum = sum;
  options.numbers = Options::Numbers::none;
  return last(times(options, std::vector<double>(std::size_t(ranks), 0.0),
                    [&](Communicator& group) { group.sum(group.allocate(Element::byte, bytes)); }));
}

TEST(SumCost, IsThePublishedFormula) {
  // 2 (n - 1) a + 2 (n - 1) / n M / B and 2 log2(n) a + the same volume.
  const Options links{.node = wire};
  const double volume = 2 * 7 / 8.0 * count / bandwidth;
  EXPECT_NEAR(seconds(Sum::ring, 8, count, links), 14 * latency + volume, 1e-15);
  EXPECT_NEAR(seconds(Sum::halving_doubling, 8, count, links), 6 * latency + volume, 1e-15);
  EXPECT_NEAR(seconds(Sum::binary_blocks, 8, count, links), 6 * latency + volume, 1e-15);
  EXPECT_NEAR(seconds(Sum::tree, 8, count, links), 6 * (latency + count / bandwidth), 1e-15);
  EXPECT_NEAR(seconds(Sum::halving_doubling, 6, count, links),
              4 * latency + 2 * 3 / 4.0 * count / bandwidth + 3 * latency + 2 * count / bandwidth,
              1e-15);
}

TEST(SumCost, OfTwoLevelsIsThatOfItsLevels) {
  // Four nodes of two: a tree of two on each node, and halving and doubling among four.
  const Link far{.latency = Seconds(5e-5), .bytes_per_second = 1e8};
  const Options links{.ranks_per_node = 2, .node = wire, .network = far};
  const double near = latency + count / bandwidth;
  EXPECT_NEAR(seconds(Sum::hierarchical, 8, count, links),
              2 * near + 4 * 5e-5 + 2 * 3 / 4.0 * count / 1e8, 1e-15);
}

TEST(SumCost, OfSharedPortsHasTheBandwidthThatIsLeft) {
  // Two ranks a node: at the distance 2 both of a node send through the one port of the node.
  const Options links{.ranks_per_node = 2,
                      .node = wire,
                      .network = {.bytes_per_second = bandwidth, .shared_by = 2}};
  EXPECT_NEAR(seconds(Sum::halving_doubling, 4, count, links),
              2 * (latency + count / 2 / bandwidth) + 2 * (2 * (count / 4) / bandwidth), 1e-15);
}

TEST(SumCost, OfHalfDuplexLinksSharesThemBetweenBothDirections) {
  Link half = wire;
  half.half_duplex = true;
  const double whole = latency + count / bandwidth;
  EXPECT_NEAR(seconds(Sum::tree, 2, count, {.node = half}), 2 * whole, 1e-15);
  for (const bool expand : {false, true}) {
    const Options options{.node = half, .sum = Sum::ring, .expand = expand};
    const auto sum = [](Communicator& group) { group.sum(group.allocate(Element::byte, count)); };
    const double round = latency + 2 * (count / 4) / bandwidth;  // sends and receives at once
    EXPECT_NEAR(times(options, {0, 0, 0, 0}, sum)[0], 6 * round, 1e-12);
  }
}

TEST(SumCost, OfEagerMessagesGoesBothWaysAtOnce) {
  Link half = wire;
  half.half_duplex = true;
  half.eager_bytes = count / 4;
  const auto take = [&](std::size_t bytes, bool expand) {
    const Options options{.node = half, .sum = Sum::ring, .expand = expand};
    return times(options, {0, 0, 0, 0},
                 [&](Communicator& group) { group.sum(group.allocate(Element::byte, bytes)); })[0];
  };
  for (const bool expand : {false, true}) {
    EXPECT_NEAR(take(count, expand), 6 * (latency + count / 4 / bandwidth), 1e-12);
    EXPECT_NEAR(take(count + 4, expand), 6 * (latency + 2 * (count / 4 + 1) / bandwidth), 1e-12);
  }
}

TEST(SumCost, AutomaticIsTheQuickest) {
  const Options links{.node = wire};
  for (std::size_t bytes : {std::size_t(8), count, 1000 * count}) {
    for (int ranks : {2, 3, 6, 8}) {
      double quickest = 1e9;
      for (const Algorithm& algorithm : algorithms)
        quickest = std::min(quickest, seconds(algorithm.sum, ranks, bytes, links));
      EXPECT_DOUBLE_EQ(seconds(Sum::automatic, ranks, bytes, links), quickest) << bytes;
    }
  }
}

TEST(CollectiveCost, OfPartsIsThatOfARing) {
  const Options links{.node = wire};
  const auto take = [&](auto body) {
    return last(times(links, std::vector<double>(5, 0.0), [&](Communicator& group) {
      body(group, group.allocate(Element::byte, count));
    }));
  };
  const double even = 4 * (latency + count / 5 / bandwidth);
  EXPECT_NEAR(take([](auto& group, Vector x) { group.all_gather(x); }), even, 1e-15);
  EXPECT_NEAR(take([](auto& group, Vector x) { group.reduce_scatter(x); }), even, 1e-15);
  EXPECT_NEAR(take([](auto& group, Vector x) {
                group.all_gather(x, {count, 0, 0, 0, 0});
              }),
              4 * (latency + count / bandwidth), 1e-15);
  EXPECT_NEAR(take([](auto& group, Vector) { group.barrier(); }), 3 * latency, 1e-15);
}

TEST(CollectiveCost, OfABroadcastIsADepthOfTheTreeAfterTheLast) {
  const auto through = times({.node = {.latency = Seconds(1)}}, {5, 0, 9, 0}, [](auto& group) {
    group.broadcast(group.allocate(Element::byte, 1), 0);
  });
  EXPECT_EQ(through, (std::vector<double>(4, 11)));
}

TEST(CollectiveCost, OfSeveralUnderWayIsThatOfTheirValuesOneAfterTheOther) {
  // Whatever the latencies: they pass together. By the formulas, and message by message.
  for (const bool expand : {false, true}) {
    const Options options{.node = wire, .sum = Sum::ring, .expand = expand};
    const auto through = times(options, {0, 0}, [](Communicator& group) {
      const Vector x = group.allocate(Element::byte, 2 * count);
      comm::Pending first = group.start_sum(x[{0, count}]);
      comm::Pending second = group.start_sum(x[{count, 2 * count}]);
      second.wait();
      first.wait();
    });
    EXPECT_NEAR(through[0], 2 * (latency + count / bandwidth), 1e-15);
  }
}

TEST(CollectiveCost, OfOtherWaysAndOfOneRankDoesNotWait) {
  // Two nodes of two ranks: a sum between nodes is under way.
  const Link slow{.bytes_per_second = bandwidth / 100};
  const Options options{.ranks_per_node = 2, .node = wire, .network = slow, .sum = Sum::ring};
  const double within = 2 * (latency + count / 2 / bandwidth);
  const double between = 2 * (count / 2 / (bandwidth / 100));
  World world(4, options);
  world.run([&](Communicator& group) {
    const int own = group.rank();
    const auto across = group.group(std::vector{own % 2, own % 2 + 2});
    const auto inside = group.group(std::vector{own / 2 * 2, own / 2 * 2 + 1});
    const auto alone = group.group(std::vector{own});
    const Vector x = group.allocate(Element::byte, 2 * count);
    comm::Pending sum = across->start_sum(x[{0, count}]);
    alone->sum(x[{count, 2 * count}]);
    EXPECT_EQ(world.now().count(), 0);
    inside->sum(x[{count, 2 * count}]);
    EXPECT_NEAR(world.now().count(), within, 1e-12);
    sum.wait();
    EXPECT_NEAR(world.now().count(), between, 1e-12);
  });
}

}  // namespace
}  // namespace parajoule::simulate
