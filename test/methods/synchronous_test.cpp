// Synchronous SGD against its formula, computed here by one loop over the ranks.
#include <gtest/gtest.h>

#include "comm/sums.h"
#include "every_method.h"

namespace parajoule::methods {
namespace {

TEST(Synchronous, FollowsTheMeanGradientWithEveryOverlapAndSum) {
  // With short batches, and ranks that have no samples.
  for (const int ranks : rank_counts)
    for (const char* overlap : overlaps)
      for (const comm::Sum& sum : comm::sums()) {
        const Problem problem = layered(uneven(ranks, 37));
        const Outcome found = run({.method = "synchronous",
                                   .settings = overlapped(overlap),
                                   .problem = problem,
                                   .ranks = ranks,
                                   .steps = 7,
                                   .sum = sum.name,
                                   .ranks_per_node = 2});
        const std::string what = std::string(overlap) + " " + std::string(sum.name);
        Replicas all(problem, ranks);
        for (int step = 1; step <= 7; ++step) {
          all.step_together(0.1);
          expect_after(found, step, all.w);
          for (int rank = 0; rank < ranks; ++rank)
            EXPECT_EQ(found.after(step, rank), found.after(step, 0)) << what;
        }
        for (const Row& finished : found.finished) EXPECT_EQ(finished, found.after(7, 0)) << what;
      }
}

TEST(Synchronous, OnOneRankIsSerialSgdBitForBit) {
  for (const double momentum : {0.0, 0.9}) {
    Problem problem = varied(1, 37);
    problem.momentum = momentum;
    Row w = problem.start.front(), v(w.size());
    const Outcome found =
        run({.method = "synchronous", .problem = problem, .ranks = 1, .steps = 30});
    for (int step = 1; step <= 30; ++step) {
      const Row g = quadratic_gradient(problem, 0, w);
      for (std::size_t k = 0; k < w.size(); ++k) {
        v[k] = momentum * v[k] + g[k];
        w[k] -= 0.1 * v[k];
      }
      EXPECT_EQ(found.after(step, 0), w);
    }
  }
}

TEST(Synchronous, AShortLastBatchCountsForLess) {
  Problem problem = Problem::least_squares({{{1}, {2}}, {{3}}}, {{1, 1}, {1}});
  const Outcome found = run({.method = "synchronous", .problem = problem, .ranks = 2, .steps = 1});
  // Of three rows with w = 0 the mean gradient is -2 (1 + 2 + 3) / 3, not the mean of the means.
  for (int rank : {0, 1}) EXPECT_NEAR(found.after(1, rank)[0], 0.1 * 4, 1e-15);
}

TEST(Synchronous, GivesTheValuesOfToy4) {
  const Outcome plain = run({.method = "synchronous", .problem = toy4(), .ranks = 4, .steps = 3});
  Problem heavy = toy4();
  heavy.momentum = 0.9;
  const Outcome momentum = run({.method = "synchronous", .problem = heavy, .ranks = 4, .steps = 3});
  const double wanted[] = {0.175, 0.306250, 0.404687500};
  const double with_momentum[] = {0.175, 0.463750, 0.782687500};
  for (int step = 1; step <= 3; ++step)
    for (int rank = 0; rank < 4; ++rank) {
      EXPECT_NEAR(plain.after(step, rank)[0], wanted[step - 1], 1e-9);
      EXPECT_NEAR(momentum.after(step, rank)[0], with_momentum[step - 1], 1e-9);
    }
}

TEST(Synchronous, GivesTheValuesOfToy1OnAnyNumberOfRanks) {
  const double wanted[] = {0.98, 0.9612, 0.943528, 0.92691632, 0.9113013408};
  for (const int ranks : rank_counts) {
    const Outcome found =
        run({.method = "synchronous", .problem = toy1(ranks), .ranks = ranks, .steps = 5});
    for (int step = 1; step <= 5; ++step)
      for (int rank = 0; rank < ranks; ++rank)
        expect_near(found.after(step, rank), Row(3, wanted[step - 1]), 1e-12, "toy 1");
  }
}

TEST(Synchronous, GoesOnFromWhatItSavedWithEveryOverlapAndSum) {
  for (const char* overlap : overlaps)
    for (const comm::Sum& sum : comm::sums())
      expect_goes_on({.method = "synchronous",
                      .settings = overlapped(overlap),
                      .problem = layered(uneven(3, 37)),
                      .ranks = 3,
                      .steps = 5,
                      .sum = sum.name,
                      .ranks_per_node = 2});
}

}  // namespace
}  // namespace parajoule::methods
