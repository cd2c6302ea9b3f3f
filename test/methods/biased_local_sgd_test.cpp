// Local SGD with unequal steps in every world, against its formulas; the choice of samples needs
// losses of single samples, which exact problems do not have: it is tested beside the method.
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

}  // namespace
}  // namespace parajoule::methods
