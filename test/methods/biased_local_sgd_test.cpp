// Local SGD with unequal steps in every world, against its formulas. Which samples are chosen is
// tested beside the method.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

/// Rank 0 is slow: `slow` steps a round, the others `fast`.
Case trial(std::int64_t slow, std::int64_t fast, const std::string& weights, Problem problem,
           int ranks, std::int64_t steps) {
  return {.method = "biased_local_sgd",
          .settings = {{"slow_ranks", std::vector<std::int64_t>{0}},
                       {"slow_steps", slow},
                       {"fast_steps", fast},
                       {"biased", false},
                       {"weights", weights}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

Problem with_momentum(int ranks) {
  Problem problem = varied(ranks, 37);
  problem.momentum = 0.9;
  return problem;
}

TEST(BiasedLocalSgd, WithUnequalStepsEqualsItsSequentialSimulation) {
  for (const int ranks : {2, 3, 4, 5, 8})
    for (const std::string weights : {"equal", "steps"}) {
      const Problem problem = with_momentum(ranks);
      const Outcome found = run(trial(2, 4, weights, problem, ranks, 12));
      Row weight(std::size_t(ranks), 1.0 / ranks);
      if (weights == "steps") {
        weight.assign(std::size_t(ranks), 4.0 / (4 * ranks - 2));
        weight[0] = 2.0 / (4 * ranks - 2);
      }
      Replicas all(problem, ranks);
      for (int round = 0; round < 3; ++round) {
        for (int r = 0; r < ranks; ++r) {
          const int each = r == 0 ? 2 : 4;
          for (int step = 1; step <= each; ++step) {
            all.update(r, all.gradient(r), 0.1);
            if (step < each)
              expect_near(found.after(round * each + step, r), all.w[std::size_t(r)], 1e-13, "own");
          }
        }
        all.w.assign(std::size_t(ranks), weighted(all.w, weight));
        for (int r = 0; r < ranks; ++r)
          expect_near(found.after((round + 1) * (r == 0 ? 2 : 4), r), all.w[std::size_t(r)], 1e-13,
                      "averaged");
      }
      expect_ends_with(found, weighted(all.w, weight));
    }
}

TEST(BiasedLocalSgd, WithEqualStepsAndNoBiasIsLocalSgd) {  // R2, I13
  for (const int ranks : rank_counts) {
    const Case biased = trial(3, 3, "equal", uneven(ranks, 9), ranks, 11);
    Case local = biased;
    local.method = "local_sgd";
    local.settings = {{"period", std::int64_t(3)}};
    EXPECT_TRUE(run(biased) == run(local)) << ranks;
  }
}

TEST(BiasedLocalSgd, OnOneRankIsSerialBitForBit) {  // I15
  expect_serial_on_one_rank("biased_local_sgd", {{"biased", false}});
}

/// Three samples of two numbers a rank; a step takes three.
Problem three_samples(int ranks) {
  std::vector<std::vector<Row>> inputs(static_cast<std::size_t>(ranks));
  std::vector<Row> outputs(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    for (int row = 0; row < 3; ++row) {
      inputs[std::size_t(rank)].push_back({0.5 + 0.1 * rank, 0.1 * row - 0.3});
      outputs[std::size_t(rank)].push_back(rank == 2 ? 4 + row : 0.2 * row);
    }
  Problem problem = Problem::least_squares(inputs, outputs);
  problem.start = {{0.1, -0.2}};
  return problem;
}

// The samples that are drawn and the losses are part of what a rank saves. A round of 5 x 3 samples
// is all there are: they are chosen anew before each.
TEST(BiasedLocalSgd, GoesOnWithTheSamplesThatWereChosen) {
  Case whole{.method = "biased_local_sgd",
             .settings = {{"slow_ranks", std::vector<std::int64_t>{0, 3}},
                          {"fast_steps", std::int64_t(1)}},
             .problem = three_samples(5),
             .ranks = 5,
             .steps = 7};
  const Outcome biased = run(whole);
  for (const Row& row : biased.weights.back()) EXPECT_EQ(row, biased.weights.back().front());
  for (const std::int64_t after : {1, 2, 4, 6}) {
    Case halves = whole;
    halves.resume_after = after;
    EXPECT_TRUE(run(halves) == biased) << after;
  }
  whole.settings["biased"] = false;
  EXPECT_FALSE(run(whole) == biased);
}

}  // namespace
}  // namespace parajoule::methods
