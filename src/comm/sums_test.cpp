// Every algorithm of sums against a serial sum, beside other sums and messages, over threads.
#include "comm/sums.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/narrow.h"
#include "base/seed.h"
#include "comm/bodies_test.h"
#include "comm/threads.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Vector;

Options nodes_of(int ranks_per_node) {
  return {.give_up = base::Seconds(60), .ranks_per_node = ranks_per_node};
}

/// Runs `body` on every rank, with sums by the algorithm `name`.
void run(int ranks, int per_node, std::string_view name,
         const std::function<void(Communicator&)>& body) {
  Threads(ranks, nodes_of(per_node)).run([&](Communicator& world) {
    Summing summing(world, sum(name));
    body(summing);
  });
}

std::vector<std::string> algorithms() {
  std::vector<std::string> names;
  for (const Sum& known : sums()) names.emplace_back(known.name);
  return names;
}

class EveryAlgorithm : public testing::TestWithParam<std::string> {};

constexpr std::pair<int, int> worlds[] = {{1, 8}, {2, 8}, {3, 2}, {5, 2}, {8, 3}};

TEST_P(EveryAlgorithm, DoesWhatEveryWorldDoes) {
  for (const bodies::Body& body : bodies::of_any_sum()) {
    for (const auto& [ranks, per_node] : worlds) {
      run(ranks, per_node, GetParam(), body.run);
      ASSERT_FALSE(HasFailure()) << body.name << ": " << ranks << " ranks, " << per_node
                                 << " a node";
    }
  }
}

double input(int rank, std::size_t i) {
  base::Stream stream{std::uint64_t(rank), i};
  return stream.normal();
}

double factor(int rank) { return rank + 0.5; }

/// The weighted sum of all ranks at element i, and the sum of the magnitudes.
std::pair<double, double> serial(int ranks, std::size_t i) {
  double total = 0;
  double magnitude = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    total += factor(rank) * input(rank, i);
    magnitude += std::abs(factor(rank) * input(rank, i));
  }
  return {total, magnitude};
}

constexpr std::size_t counts[] = {1, 2, 3, 5, 7, 8, 257, 1000};

std::vector<double> summed(Communicator& world, std::size_t count) {
  const Vector values = world.allocate(Element::float64, count);
  for (std::size_t i = 0; i < count; ++i) values.as<double>()[i] = input(world.rank(), i);
  world.sum(values, factor(world.rank()));
  return {values.as<double>().begin(), values.as<double>().end()};
}

void compare_with_serial(const std::string& name, int ranks, int per_node) {
  std::vector<std::vector<std::vector<double>>> results(static_cast<std::size_t>(ranks));
  run(ranks, per_node, name, [&](Communicator& world) {
    for (std::size_t count : counts)
      results[std::size_t(world.rank())].push_back(summed(world, count));
  });
  for (const auto& of_rank : results)
    EXPECT_EQ(of_rank, results[0]) << name << ": " << ranks << " ranks differ";
  for (const std::vector<double>& result : results[0]) {
    for (std::size_t i = 0; i < result.size(); ++i) {
      const auto [total, magnitude] = serial(ranks, i);
      ASSERT_NEAR(result[i], total, ranks * magnitude * std::numeric_limits<double>::epsilon())
          << name << ": " << ranks << " ranks, " << per_node << " a node, " << i << " of "
          << result.size();
    }
  }
}

// Also 2x2, 2x3 and 2x4 nodes, and vectors of odd length.
TEST_P(EveryAlgorithm, EqualsASerialSumWithTheSameBitsOnAllRanks) {
  for (int ranks = 1; ranks <= 8; ++ranks)
    for (int per_node : {2, 3, 4}) compare_with_serial(GetParam(), ranks, per_node);
}

// On each rank the waiting and asking is in another order; whoever waits for one thing must push
// on all others, or two ranks wait for each other.
TEST_P(EveryAlgorithm, SumsGoOnWhateverARankWaitsFor) {
  for (int ranks : {2, 3, 5, 8}) {
    run(ranks, 4, GetParam(), [&](Communicator& world) {
      constexpr std::size_t count = 3001;
      const Vector values = world.allocate(Element::float32, 3 * count);
      for (std::size_t i = 0; i < 3; ++i) values[{i * count, (i + 1) * count}].fill(double(i + 1));
      std::vector<Pending> sums;
      for (std::size_t i = 0; i < 3; ++i)
        sums.push_back(world.start_sum(values[{i * count, (i + 1) * count}]));
      const bool even = world.rank() % 2 == 0;
      if (even) sums[2].wait();
      EXPECT_EQ(world.minimum(double(world.rank())), 0);
      sums[even ? 0 : 1].wait();
      EXPECT_EQ(world.sum(2.0), 2 * world.size());
      sums.clear();
      for (std::size_t i = 0; i < 3 * count; ++i)
        ASSERT_EQ(values.as<float>()[i], float(i / count + 1) * float(world.size()));
    });
  }
}

// The user's messages have the tags that sums count through, too.
TEST_P(EveryAlgorithm, MessagesAndSumsDoNotMeet) {
  run(5, 2, GetParam(), [&](Communicator& world) {
    const int right = (world.rank() + 1) % world.size();
    const int left = (world.rank() + 4) % world.size();
    const Vector values = world.allocate(Element::float32, 1000);
    const Vector out = world.allocate(Element::float32, 200);
    const Vector in = world.allocate(Element::float32, 200);
    values.fill(1);
    out.fill(world.rank());
    for (int turn = 0; turn < 4; ++turn) {
      Pending summing = world.start_sum(values);
      Pending sending = world.start_send(out, right, turn);
      world.receive(in, left, turn);
      EXPECT_EQ(in.as<float>()[199], left);
      summing.wait();
      sending.wait();
    }
    EXPECT_EQ(values.as<float>()[999], 625);
  });
}

// Rank 0 waits for a message that rank 1 sends only once a sum is done, which needs rank 0.
TEST_P(EveryAlgorithm, GoesOnWhileAMessageFromAnyoneIsAwaited) {
  run(3, 8, GetParam(), [&](Communicator& world) {
    const Vector values = world.allocate(Element::float64, 5000);
    values.fill(world.rank());
    Pending summing = world.start_sum(values);
    std::int64_t number = 41 + world.rank();
    const Vector one{std::span(&number, 1)};
    if (world.rank() == 0) {
      const auto message = world.await(Communicator::anyone, 9);
      EXPECT_EQ(message.from, 1);
      EXPECT_EQ(message.bytes, sizeof(number));
      world.receive(one, 1, 9);
      EXPECT_EQ(number, 42);
    }
    summing.wait();
    if (world.rank() == 1) world.send(one, 0, 9);
    EXPECT_EQ(values.as<double>()[4999], 3);
  });
}

TEST_P(EveryAlgorithm, ARankThatFailsReleasesTheOthers) {
  const auto failing = [&](Communicator& world) {
    const Vector values = world.allocate(Element::float32, 5000);
    world.sum(values);
    Pending first = world.start_sum(values[{0, 2000}]);
    if (world.rank() == 1) throw std::runtime_error("disk full");
    Pending second = world.start_sum(values[{2000, 5000}]);
    second.wait();
    first.wait();
  };
  try {
    run(4, 2, GetParam(), failing);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "disk full");
  }
}

INSTANTIATE_TEST_SUITE_P(Sums, EveryAlgorithm, testing::ValuesIn(algorithms()),
                         [](const auto& info) { return info.param; });

// Chunk c begins at rank c and is rounded by each rank that it comes to.
TEST(Ring, RoundsNarrowValuesOnceAHop) {
  constexpr int ranks = 3;
  constexpr std::size_t count = 30;
  const auto value = [](int rank, std::size_t i) {
    return base::from_bfloat16(base::to_bfloat16(float(input(rank, i))));
  };
  run(ranks, 8, "ring", [&](Communicator& world) {
    const Vector values = world.allocate(Element::bfloat16, count);
    std::vector<float> wide(count);
    for (std::size_t i = 0; i < count; ++i) wide[i] = value(world.rank(), i);
    values.cast(Vector(std::span(wide)));
    world.sum(values);
    Vector(std::span(wide)).cast(values);
    for (std::size_t i = 0; i < count; ++i) {
      const int chunk = int(i / (count / ranks));
      float partial = value(chunk, i);
      for (int hop = 1; hop < ranks; ++hop)
        partial = base::from_bfloat16(base::to_bfloat16(value((chunk + hop) % ranks, i) + partial));
      ASSERT_EQ(wide[i], partial) << i;
    }
  });
}

TEST(Catalog, NamesTheKnownAlgorithms) {
  EXPECT_EQ(sums().front().name, "auto");
  for (const Sum& known : sums()) EXPECT_FALSE(known.summary.empty()) << known.name;
  try {
    sum("rings");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_STREQ(error.what(), "sum = rings: no such algorithm; did you mean 'ring'?");
  }
}

TEST(Catalog, TheLeadersOfNodesAddUpByAnyOtherAlgorithm) {
  const Sum& two_levels = sum("hierarchical");
  for (std::string_view leaders : two_levels.options.front().choices) {
    const base::Settings settings("hierarchical", two_levels.options,
                                  {{"leaders", std::string(leaders)}});
    Threads(7, nodes_of(2)).run([&](Communicator& world) {
      Summing summing(world, two_levels, settings);
      const Vector values = world.allocate(Element::int64, 101);
      values.fill(1 << world.rank());
      summing.sum(values);
      EXPECT_EQ(values.as<std::int64_t>()[100], 127) << leaders;
    });
  }
}

}  // namespace
}  // namespace parajoule::comm
