// Local SGD against its formula, computed here by one loop over the ranks.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

constexpr std::string_view name = "local_sgd";

/// The replicas after each step: every `period` steps the mean.
std::vector<std::vector<Row>> simulated(const Problem& problem, int ranks, int steps, int period) {
  Replicas all(problem, ranks);
  std::vector<std::vector<Row>> after;
  for (int step = 1; step <= steps; ++step) {
    all.step(problem.learning_rate.front());
    if (step % period == 0) all.w.assign(std::size_t(ranks), mean(all.w));
    after.push_back(all.w);
  }
  return after;
}

Case with_period(std::int64_t period, Problem problem, int ranks, std::int64_t steps) {
  return {.method = name,
          .settings = {{"period", period}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps};
}

TEST(LocalSgd, EqualsItsSequentialSimulationOnAnyNumberOfRanks) {
  // With short batches, and ranks that have no samples and only average.
  for (const int ranks : rank_counts)
    for (const int period : {1, 3, 4, 20}) {
      const Problem problem = uneven(ranks, 37);
      const auto wanted = simulated(problem, ranks, 10, period);
      const Outcome found = run(with_period(period, problem, ranks, 10));
      for (int step = 1; step <= 10; ++step)
        for (int rank = 0; rank < ranks; ++rank)
          expect_near(found.after(step, rank), wanted[step - 1][rank], 1e-13, name);
    }
}

TEST(LocalSgd, LeavesAllRanksWithTheMeanAtTheEnd) {
  for (const int ranks : rank_counts) {
    const Problem problem = varied(ranks, 7);
    const Outcome found = run(with_period(4, problem, ranks, 6));
    const Row wanted = mean(simulated(problem, ranks, 6, 4).back());
    for (const Row& row : found.finished) {
      expect_near(row, wanted, 1e-13, name);
      EXPECT_EQ(row, found.finished.front());
    }
  }
}

TEST(LocalSgd, OnOneRankIsSerialSgdBitForBit) {
  const Problem problem = varied(1, 37);
  Row w = problem.start.front();
  const Outcome found = run(with_period(3, problem, 1, 20));
  for (int step = 1; step <= 20; ++step) {
    const Row g = quadratic_gradient(problem, 0, w);
    for (std::size_t k = 0; k < w.size(); ++k) w[k] -= 0.1 * g[k];
    EXPECT_EQ(found.after(step, 0), w);
  }
}

TEST(LocalSgd, GivesTheValuesOfToy4) {
  const Outcome found = run(with_period(2, toy4(), 4, 200));
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(found.after(6, rank)[0], 0.557395312, 1e-9);
    EXPECT_NEAR(found.after(200, rank)[0], 0.688235294, 1e-9);
  }
}

TEST(LocalSgd, WithPeriodOneEqualsSynchronousAlsoWithMomentumKeptLocally) {
  Problem problem = varied(5, 9);
  problem.momentum = 0.9;
  const Outcome local = run(with_period(1, problem, 5, 15));
  const Outcome synchronous =
      run({.method = "synchronous", .problem = problem, .ranks = 5, .steps = 15});
  for (int step = 1; step <= 15; ++step)
    for (int rank = 0; rank < 5; ++rank)
      expect_near(local.after(step, rank), synchronous.after(step, rank), 1e-13, name);
}

TEST(LocalSgd, AveragingConservesTheSumOfTheWeights) {
  const Problem problem = varied(5, 9);
  const Outcome averaged = run(with_period(4, problem, 5, 4));
  const Outcome alone = run(with_period(100, problem, 5, 4));
  for (std::size_t k = 0; k < 9; ++k) {
    double before = 0, after = 0;
    for (int rank = 0; rank < 5; ++rank) {
      before += alone.after(4, rank)[k];
      after += averaged.after(4, rank)[k];
    }
    EXPECT_NEAR(after, before, 1e-13);
  }
}

TEST(LocalSgd, EvaluatesTheMeanOfTheReplicas) {
  Case asked = with_period(100, varied(3, 4), 3, 5);
  asked.evaluate = true;
  const Outcome found = run(asked);
  const Row wanted = mean(found.weights.back());
  for (const Row& row : found.evaluated) expect_near(row, wanted, 1e-14, name);
}

}  // namespace
}  // namespace parajoule::methods
