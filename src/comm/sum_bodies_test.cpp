#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"
#include "comm/bodies_test.h"

namespace parajoule::comm::bodies {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

void weights_of_ranks(Communicator& world) {
  const Vector values = world.allocate(Element::float64, 3000);
  values.fill(8);
  world.sum(values, world.rank() + 1);
  const double ranks = world.size();
  EXPECT_EQ(values.as<double>()[0], 8 * ranks * (ranks + 1) / 2);
  values.fill(world.rank());
  world.mean(values);
  EXPECT_NEAR(values.as<double>()[2999], (ranks - 1) / 2, 1e-15 * ranks);
  EXPECT_EQ(world.sum(3.0), 3 * ranks);
  EXPECT_EQ(world.minimum(double(-world.rank())), 1 - ranks);
  EXPECT_EQ(world.maximum(double(-world.rank())), 0);
}

/// Adds up by hand what a rank can gather from the others: node by node, each in the order of its
/// ranks.
std::vector<float> sum_by_hand(Communicator& world, Vector own) {
  const std::size_t count = own.count();
  const auto ranks = std::size_t(world.size());
  const Vector gathered = world.allocate(Element::float32, count * ranks);
  gathered[{count * std::size_t(world.rank()), count * std::size_t(world.rank() + 1)}].copy(own);
  world.all_gather(gathered, std::vector<std::size_t>(ranks, count));
  const Nodes nodes = world.nodes();
  std::vector<float> total;
  for (int node = 0; node < nodes.count(); ++node) {
    std::vector<float> partial;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (nodes.node[rank] != node) continue;
      const auto values = gathered.as<float>().subspan(rank * count, count);
      if (partial.empty())
        partial.assign(values.begin(), values.end());
      else
        std::ranges::transform(partial, values, partial.begin(), std::plus<float>());
    }
    if (total.empty())
      total = partial;
    else
      std::ranges::transform(total, partial, total.begin(), std::plus<float>());
  }
  return total;
}

void sums_have_one_order(Communicator& world) {
  const Vector values = world.allocate(Element::float32, 10007);
  base::Stream random{17, std::uint64_t(world.rank())};
  for (float& value : values.as<float>()) value = float(random.normal());
  const std::vector<float> by_hand = sum_by_hand(world, values);
  world.sum(values);
  EXPECT_EQ(0, std::memcmp(by_hand.data(), values.data(), values.bytes()));
}

void narrow_sums_round_once(Communicator& world) {
  // 2^-8 alone is lost beside 1, an even number of them is not: if they are rounded together.
  if (world.nodes().count() > 1 || world.size() % 2 == 0) return;
  const Vector values = world.allocate(Element::bfloat16, 100);
  values.fill(world.rank() == 0 ? 1 : 0x1p-8);
  world.sum(values);
  std::vector<float> wide(100);
  Vector(std::span(wide)).cast(values);
  EXPECT_EQ(wide[99], 1 + (world.size() - 1) * 0x1p-8F);
}

void not_a_number_wins(Communicator& world) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (Element element : {Element::float32, Element::float64, Element::float16}) {
    for (std::size_t count : {std::size_t(3), std::size_t(500)}) {
      for (Kind kind : {Kind::minimum, Kind::maximum}) {
        for (int bad = 0; bad < world.size(); ++bad) {
          const Vector values = world.allocate(element, count);
          values.fill(world.rank() + 1);
          if (world.rank() == bad) values[{1, 2}].fill(nan);
          world.start({.kind = kind, .values = values}).wait();
          const auto result = loaded(values);
          EXPECT_TRUE(std::isnan(result[1]));
          EXPECT_EQ(result[2], kind == Kind::minimum ? 1 : world.size());
        }
      }
    }
  }
  EXPECT_TRUE(std::isnan(world.maximum(world.rank() == 0 ? nan : 1.0)));
}

void counts_what_moves(Communicator& world) {
  const auto traffic = [&](auto act) {
    world.barrier();
    const auto before = world.traffic().bytes;
    act();
    return world.traffic().bytes - before;
  };
  constexpr std::size_t count = 64 * 840;  // a whole number of cache lines for each rank
  const Vector values = world.allocate(Element::float32, count);
  const auto ranks = std::size_t(world.size());
  const auto nodes = std::size_t(world.nodes().count());
  const std::size_t summed = traffic([&] { world.sum(values); });
  // On one node each rank reads and writes the others' values of its block; alone on its node it
  // sends each block once to its owner and once back.
  if (nodes == 1 || nodes == ranks) {
    EXPECT_EQ(summed, 2 * (ranks - 1) * values.bytes() / ranks);
  }
  std::vector<std::byte> message(1000);
  const std::size_t sent = traffic([&] {
    Pending sending = world.start_send(Vector(std::span(message)), world.rank(), 1);
    world.receive(Vector(std::span(message)), world.rank(), 1);
  });
  EXPECT_EQ(sent, 1000U);
}

constexpr Body bodies[] = {
    {"weights_of_ranks", weights_of_ranks},
    {"not_a_number_wins", not_a_number_wins},
};

constexpr Body own_bodies[] = {
    {"sums_have_one_order", sums_have_one_order},
    {"narrow_sums_round_once", narrow_sums_round_once},
    {"counts_what_moves", counts_what_moves},
};

}  // namespace

std::span<const Body> of_sums() { return bodies; }
std::span<const Body> of_own_sums() { return own_bodies; }

}  // namespace parajoule::comm::bodies
