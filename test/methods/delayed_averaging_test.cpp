// Averaging with a delay of one in every world, against its formula.
#include <gtest/gtest.h>

#include "bodies.h"

namespace parajoule::methods {
namespace {

TEST(DelayedAveraging, EqualsItsSequentialSimulation) {
  for (const int ranks : rank_counts) {
    const Problem problem = varied(ranks, 37);
    const Outcome found =
        run({.method = "delayed_averaging", .problem = problem, .ranks = ranks, .steps = 10});
    std::vector<Row> x(std::size_t(ranks), problem.start.front());
    for (int step = 1; step <= 10; ++step) {
      Row mean(37);
      std::vector<Row> g;
      for (int r = 0; r < ranks; ++r) {
        g.push_back(quadratic_gradient(problem, r, x[std::size_t(r)]));
        for (std::size_t k = 0; k < 37; ++k) mean[k] += x[std::size_t(r)][k] / ranks;
      }
      for (int r = 0; r < ranks; ++r) {
        for (std::size_t k = 0; k < 37; ++k)
          x[std::size_t(r)][k] = mean[k] - 0.1 * g[std::size_t(r)][k];
        expect_near(found.after(step, r), x[std::size_t(r)], 1e-13, "weights");
      }
    }
  }
}

TEST(DelayedAveraging, OnOneRankIsSynchronousBitForBit) {
  Problem problem = varied(1, 9);
  problem.momentum = 0.9;
  EXPECT_TRUE(run({.method = "delayed_averaging", .problem = problem, .ranks = 1, .steps = 12}) ==
              run({.method = "synchronous", .problem = problem, .ranks = 1, .steps = 12}));
}

TEST(DelayedAveraging, GoesOnFromWhatItSaved) {
  Problem problem = varied(3, 11);
  problem.momentum = 0.9;
  const Case whole{.method = "delayed_averaging", .problem = problem, .ranks = 3, .steps = 7};
  Case halves = whole;
  halves.resume_after = 3;
  EXPECT_TRUE(run(halves) == run(whole));
}

}  // namespace
}  // namespace parajoule::methods
