// What every method sends, counted where it is sent, against the formulas of the specifications.
// Sums go round a ring unless said otherwise, and then bytes and messages are the same in every
// world. Counted is all that a rank sends in all steps and in `finish`.
#include <bit>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/sums.h"
#include "every_method.h"

namespace parajoule::methods {
namespace {

using Traffic = comm::Communicator::Traffic;

constexpr std::size_t n = 37;       ///< parameters: an odd number, in layers of 20, 1 and 16
constexpr std::size_t buffers = 3;  ///< running statistics: fewer than there are ranks
constexpr std::int64_t steps = 10;

/// Sums of `count` numbers, of so many bytes each, and more for each part that is sent.
struct Sums {
  std::size_t count;
  std::int64_t times;
  std::size_t width = sizeof(double);
  std::size_t more = 0;
};

/// What rank r of p sends: in each half of a sum every part but one, of which part c reaches from
/// count c / p to count (c + 1) / p. The first half ends with part r + 1, the second with r + 2.
/// That is 2 (p - 1) / p of the numbers where p divides them, and 2 (p - 1) of all ranks always.
Traffic round_a_ring(const Sums& sums, int r, int p) {
  Traffic sent;
  const auto p_ = std::size_t(p);
  const auto send_all_but = [&](int kept) {
    for (std::size_t c = 0; c < p_; ++c) {
      const std::size_t length = sums.count * (c + 1) / p_ - sums.count * c / p_;
      if (int(c) == kept % p || length == 0) continue;
      sent.bytes += length * sums.width + sums.more;
      ++sent.messages;
    }
  };
  send_all_but(r + 1);
  send_all_but(r + 2);
  return {sent.bytes * std::uint64_t(sums.times), sent.messages * std::uint64_t(sums.times)};
}

Traffic round_a_ring(const std::vector<Sums>& all, int r, int p) {
  Traffic sent;
  for (const Sums& sums : all) {
    const Traffic one = round_a_ring(sums, r, p);
    sent = {sent.bytes + one.bytes, sent.messages + one.messages};
  }
  return sent;
}

using Formula = std::function<Traffic(int rank)>;

void expect_sent(const Case& made, const Formula& formula, std::string_view what = "") {
  for (const World& world : worlds()) {
    const Outcome found = run(made, world);
    for (int rank = 0; rank < made.ranks; ++rank) {
      const Traffic wanted = formula(rank), sent = found.traffic[std::size_t(rank)];
      EXPECT_EQ(sent.bytes, wanted.bytes) << made.method << " " << what << ", " << world.name
                                          << ": rank " << rank << " of " << made.ranks;
      EXPECT_EQ(sent.messages, wanted.messages) << made.method << " " << what << ", " << world.name
                                                << ": rank " << rank << " of " << made.ranks;
    }
  }
}

Case trial(std::string_view method, const Given& settings, int ranks, int trainers) {
  Problem problem = layered(varied(trainers, n));
  problem.buffers = {Row(buffers, 1)};
  return {.method = method,
          .settings = settings,
          .problem = problem,
          .ranks = ranks,
          .steps = steps,
          .sum = "ring"};
}

/// On every number of ranks: all sums are over all of them.
void expect_sums(
    std::string_view method, const Given& settings, const std::vector<Sums>& sums,
    const std::function<void(Case&)>& change = [](Case&) {}) {
  for (const int ranks : rank_counts) {
    Case made = trial(method, settings, ranks, ranks);
    change(made);
    std::string what;
    for (const auto& [name, value] : settings) what += name + " " + base::written(value) + " ";
    expect_sent(
        made, [&](int rank) { return round_a_ring(sums, rank, ranks); }, what);
  }
}

TEST(Traffic, OfSynchronousIsOneSumAStepOfWhatItsOverlapMakes) {
  expect_sums("synchronous", overlapped("none"), {{n, steps}});
  expect_sums("synchronous", overlapped("layer"), {{20, steps}, {1, steps}, {16, steps}});
  const auto of = [](const char* overlap, const char* bytes, std::int64_t least) {
    Given given{{"overlap", std::string(overlap)}};
    given[bytes] = least;
    return given;
  };
  // At least twenty numbers, and the first sum an eighth of that; more than sixteen.
  expect_sums("synchronous", of("merged", "merge_bytes", 160), {{16, steps}, {21, steps}});
  expect_sums("synchronous", of("lazy", "threshold_bytes", 128), {{17, steps}, {20, steps}});
  expect_sums("synchronous", of("lazy", "threshold_bytes", 1000), {{n, steps}});
}

/// What all ranks send together in a sum of m bytes by an algorithm, m a multiple of 16.
Traffic of_all(std::string_view sum, int ranks, std::uint64_t m) {
  const auto p = std::uint64_t(ranks);
  if (sum == "ring") return {2 * (p - 1) * m, 2 * p * (p - 1)};
  if (sum == "tree") return {2 * (p - 1) * m, 2 * (p - 1)};
  const std::uint64_t power = std::bit_floor(p), log = std::uint64_t(std::countr_zero(power));
  const std::uint64_t rest = p - power;
  const Traffic halving{2 * (power - 1) * m, 2 * power * log};
  // Each of the first pairs exchanges halves, hands half over, and in the end is handed all.
  if (sum == "halving_doubling")
    return {halving.bytes + rest * 5 * m / 2, halving.messages + 4 * rest};
  // Blocks of a power of two, here one or two: there and back the smaller one's ranks have a
  // message with each of the larger one's.
  if (sum == "binary_blocks") {
    if (rest == 0) return halving;
    const Traffic smaller = of_all(sum, int(rest), m);
    return {halving.bytes + smaller.bytes + 2 * m, halving.messages + smaller.messages + 2 * power};
  }
  // Nodes of two: up, among the first of each, down.
  const std::uint64_t nodes = (p + 1) / 2;
  const Traffic among = of_all("halving_doubling", int(nodes), m);
  return {among.bytes + 2 * (p - nodes) * m, among.messages + 2 * (p - nodes)};
}

TEST(Traffic, OfSynchronousIsThatOfItsSumWithEachOverlap) {
  for (const comm::Sum& sum : comm::sums()) {
    if (sum.name == "auto") continue;  // the world's own way
    for (const int ranks : rank_counts)
      for (const bool layers : {false, true}) {
        const std::string overlap = layers ? "layer" : "none";
        Case made = trial("synchronous", overlapped(overlap), ranks, ranks);
        made.problem = varied(ranks, 40);
        made.problem.shapes = {{8}, {4, 8}};
        made.sum = sum.name;
        made.ranks_per_node = 2;
        Traffic wanted;
        for (const std::uint64_t count : layers ? std::vector{8, 32} : std::vector{40}) {
          const Traffic one = of_all(sum.name, ranks, count * sizeof(double));
          wanted = {wanted.bytes + steps * one.bytes, wanted.messages + steps * one.messages};
        }
        for (const World& world : worlds()) {
          Traffic sent;
          for (const Traffic& own : run(made, world).traffic)
            sent = {sent.bytes + own.bytes, sent.messages + own.messages};
          EXPECT_EQ(sent.bytes, wanted.bytes) << sum.name << ", " << overlap << ", " << ranks;
          EXPECT_EQ(sent.messages, wanted.messages) << sum.name << ", " << overlap << ", " << ranks;
        }
      }
  }
}

TEST(Traffic, OfCoarseSparseIsItsImportantChunksAndTheirNorms) {  // G3
  const auto forty = [](Case& made) {                             // eight chunks of five
    made.problem = varied(made.ranks, 40);
    made.problem.momentum = 0.9;
  };
  const auto of = [](double sparsity, std::int64_t warmup, std::int64_t threshold) {
    return Given{{"sparsity", sparsity},
                 {"chunk", std::int64_t(5)},
                 {"warmup_steps", warmup},
                 {"threshold_bytes", threshold}};
  };
  // The first step is dense; then half of the chunks.
  expect_sums("coarse_sparse", of(0.5, 0, 1000), {{40, 1}, {20, steps - 1}, {8, steps}}, forty);
  // The same in sums of eight numbers: five in the first step, then two and one of the other four.
  expect_sums("coarse_sparse", of(0.5, 0, 64),
              {{8, 5}, {8, 2 * (steps - 1)}, {4, steps - 1}, {8, steps}}, forty);
  // ceil(8 (1 - 0.75 t / 4)) chunks: 8, 7, 5, 4, 2, 2, ...
  expect_sums("coarse_sparse", of(0.75, 4, 1000),
              {{40, 1}, {35, 1}, {25, 1}, {20, 1}, {10, steps - 4}, {8, steps}}, forty);
}

TEST(Traffic, OfLsgdIsAGradientUpAndDownAndASumOfTheCommunicators) {  // J3
  struct Size {
    int groups, workers;
  };
  constexpr std::uint64_t m = n * sizeof(double);
  for (const auto& [groups, workers] :
       {Size{1, 1}, {1, 2}, {1, 4}, {1, 8}, {2, 1}, {2, 3}, {3, 2}, {4, 1}}) {
    const int each = workers + 1;
    const Case made =
        trial("lsgd", {{"ranks_per_group", std::int64_t(each)}}, groups * each, groups * workers);
    expect_sent(made, [&, groups = groups, workers = workers](int rank) -> Traffic {
      // A worker's goodbye has no bytes, and does not count.
      if (rank % each < workers) return {steps * m, steps};
      const Traffic sums = round_a_ring(Sums{n, steps}, rank / each, groups);
      return {steps * std::uint64_t(workers) * m + sums.bytes,
              steps * std::uint64_t(workers) + sums.messages};
    });
  }
}

TEST(Traffic, OfPipeSgdIsOneSumAStepEncodedOrNot) {  // A5
  for (const std::int64_t width : {1, 2, 3}) {
    expect_sums("pipe_sgd", {{"width", width}}, {{n, steps}});
    expect_sums("pipe_sgd", {{"width", width}, {"warmup_steps", std::int64_t(4)}}, {{n, steps}});
  }
  expect_sums("pipe_sgd", {{"start", std::string("repeat")}}, {{n, steps}});
  // Two bytes a number; one, and four for the scale of each part.
  expect_sums("pipe_sgd", {{"codec", std::string("truncate16")}}, {{n, steps, 2}});
  expect_sums("pipe_sgd", {{"codec", std::string("scale8")}}, {{n, steps, 1, 4}});
}

TEST(Traffic, OfHierarchicalParallelSgdIsOneSumAPeriod) {  // I4
  expect_sums("hierarchical_parallel_sgd", {{"period", std::int64_t(5)}}, {{n, 2}});
  expect_sums("hierarchical_parallel_sgd", {{"period", std::int64_t(1)}}, {{n, steps}});
  // Two gradients are left for the end.
  expect_sums("hierarchical_parallel_sgd", {{"period", std::int64_t(4)}}, {{n, 2 + 1}});
}

/// What the end adds where every rank has a replica of its own: the mean of these.
std::vector<Sums> and_the_end(std::vector<Sums> sums) {
  sums.insert(sums.end(), {{n, 1}, {buffers, 1}});
  return sums;
}

TEST(Traffic, OfDelayedAveragingIsOneSumAStep) {
  expect_sums("delayed_averaging", {}, and_the_end({{n, steps}}));
}

TEST(Traffic, OfLocalSgdIsOneSumAPeriod) {
  for (const std::int64_t period : {1, 3, 20})
    expect_sums("local_sgd", {{"period", period}},
                and_the_end({{n, steps / period}, {buffers, steps / period}}));
}

TEST(Traffic, OfPostLocalSgdIsOneSumAStepAndThenOneAPeriod) {  // LS3
  const auto epochs_of_four = [](Case& made) { made.problem.steps_per_epoch = 4; };
  const Given one{{"period", std::int64_t(3)}, {"from_epoch", std::int64_t(1)}};
  expect_sums("post_local_sgd", one, and_the_end({{n, 4}, {n, 2}, {buffers, 2}}), epochs_of_four);
  const auto falls_after_four = [](Case& made) {
    made.problem.learning_rate = {0.1, 0.1, 0.1, 0.1, 0.01};
  };
  const Given decay{{"period", std::int64_t(3)}};
  expect_sums("post_local_sgd", decay, and_the_end({{n, 4}, {n, 2}, {buffers, 2}}),
              falls_after_four);
  // Replicas that never part are not averaged at the end.
  expect_sums("post_local_sgd", decay, {{n, steps}, {buffers, 1}});
}

TEST(Traffic, OfCocodSgdIsOneSumARound) {
  for (const std::int64_t period : {1, 4, 5})  // a round that has begun is summed
    expect_sums("cocod_sgd", {{"period", period}},
                and_the_end({{n, (steps + period - 1) / period}}));
}

TEST(Traffic, OfOverlapLocalSgdIsOneSumARound) {
  for (const std::int64_t period : {1, 3, 5})
    expect_sums("overlap_local_sgd", {{"period", period}}, and_the_end({{n, steps / period}}));
}

TEST(Traffic, OfBiasedLocalSgdIsOneSumARound) {  // no samples chosen: that is counted beside it
  const Given slow{{"slow_ranks", std::vector<std::int64_t>{0}},
                   {"slow_steps", std::int64_t(1)},
                   {"fast_steps", std::int64_t(2)},
                   {"biased", false}};
  for (const char* weights : {"equal", "steps"})
    for (const int ranks : {2, 3, 4, 5, 8}) {
      Given given = slow;
      given["weights"] = std::string(weights);
      expect_sent(trial("biased_local_sgd", given, ranks, ranks), [&](int rank) {
        return round_a_ring(and_the_end({{n, steps / 2}, {buffers, steps / 2}}), rank, ranks);
      });
    }
  expect_sums("biased_local_sgd", {{"fast_steps", std::int64_t(4)}, {"biased", false}},
              and_the_end({{n, 2}, {buffers, 2}}));
}

/// Ranks in a distance of which one exchanges with.
std::size_t degree(const std::string& topology, int ranks) {
  std::set<int> distances;
  for (int distance = 1; distance < ranks; ++distance) {
    const bool joined =
        topology == "complete" ||
        (topology == "ring" ? distance == 1 : std::has_single_bit(unsigned(distance)));
    if (joined) distances.insert({distance, ranks - distance});
  }
  return distances.size();
}

TEST(Traffic, OfOldsgdIsItsWeightsToEachNeighbourOnceARound) {  // N4
  for (const std::string topology : {"ring", "exponential", "complete"})
    for (const std::int64_t period : {1, 3, 5})
      for (const int ranks : rank_counts) {
        const auto messages = degree(topology, ranks) * std::size_t((steps + period - 1) / period);
        const Case made =
            trial("oldsgd", {{"period", period}, {"topology", topology}}, ranks, ranks);
        expect_sent(made, [&](int rank) -> Traffic {
          const Traffic end = round_a_ring(and_the_end({}), rank, ranks);
          return {messages * n * sizeof(double) + end.bytes, messages + end.messages};
        });
      }
}

Given daso(std::int64_t global_skip, const std::string& downcast) {
  return {{"global_skip", global_skip},
          {"local_skip", std::int64_t(1)},
          {"wait", std::int64_t(1)},
          {"warmup_epochs", std::int64_t(0)},
          {"cooldown_epochs", std::int64_t(0)},
          {"downcast", downcast}};
}

TEST(Traffic, OfDasoOnNodesOfOneIsOneSumAnExchange) {  // DASO4, g = 1
  const auto nodes_of_one = [](Case& made) {
    made.ranks_per_node = 1;
    made.problem.steps_per_epoch = steps;
  };
  // Batches 0, 3 and 6, and the last of the epoch.
  expect_sums("daso", daso(3, "bfloat16"), and_the_end({{n, 3 + 1}}), nodes_of_one);
  // Waiting in each batch: two bytes a number.
  expect_sums("daso", daso(0, "bfloat16"), and_the_end({{n, steps, 2}}), nodes_of_one);
  expect_sums("daso", daso(0, "none"), and_the_end({{n, steps}}), nodes_of_one);
}

TEST(Traffic, OfDasoOnWiderNodesIsASumWithinEachBatchAndOneRankOfEachNodeBetween) {  // DASO4
  for (const auto& [nodes, each] : {std::pair(1, 3), {2, 2}, {2, 4}, {3, 2}, {4, 2}}) {
    const int ranks = nodes * each;
    Case made = trial("daso", daso(3, "none"), ranks, ranks);
    made.ranks_per_node = each;
    made.problem.steps_per_epoch = steps;
    const auto p = std::uint64_t(nodes), g = std::uint64_t(each), r = std::uint64_t(ranks);
    constexpr std::uint64_t m = n * sizeof(double), exchanges = 4;
    // Of all ranks. What an exchange brings is handed to the rest of its node: that is a broadcast,
    // whose messages each world makes as it likes.
    const std::uint64_t within = steps * p * 2 * (g - 1) * m;
    const std::uint64_t between = exchanges * (2 * (p - 1) * m + p * (g - 1) * m);
    const std::uint64_t end = 2 * (r - 1) * (m + buffers * sizeof(double));
    for (const World& world : worlds()) {
      std::uint64_t bytes = 0;
      for (const Traffic& own : run(made, world).traffic) bytes += own.bytes;
      EXPECT_EQ(bytes, within + between + end) << world.name << ": " << nodes << " of " << each;
    }
  }
}

}  // namespace
}  // namespace parajoule::methods
