// Synchronous SGD against its formula, computed here by one loop over the ranks.
#include <gtest/gtest.h>

#include "bodies.h"
#include "comm/sums.h"

namespace parajoule::methods {
namespace {

/// w after each step: v <- mu v + sum_r (n_r / n) g_r(w), w <- w - lr v.
std::vector<Row> simulated(const Problem& problem, int ranks, int steps, const Row& samples) {
  Row w = problem.start.front(), v(w.size());
  double all = 0;
  for (const double own : samples) all += own;
  std::vector<Row> after;
  for (int step = 0; step < steps; ++step) {
    Row g(w.size());
    for (int r = 0; r < ranks; ++r) {
      const Row own = quadratic_gradient(problem, r, w);
      for (std::size_t k = 0; k < w.size(); ++k) g[k] += samples[r] / all * own[k];
    }
    for (std::size_t k = 0; k < w.size(); ++k) {
      v[k] = problem.momentum * v[k] + g[k];
      w[k] -= problem.learning_rate.front() * v[k];
    }
    after.push_back(w);
  }
  return after;
}

const std::string overlaps[] = {"none", "layer", "merged", "lazy"};

TEST(Synchronous, FollowsTheMeanGradientOnAnyNumberOfRanks) {
  for (const int ranks : rank_counts)
    for (const std::string& overlap : overlaps) {
      Problem problem = varied(ranks, 37);
      problem.shapes = {{4, 5}, {1}, {2, 8}};
      problem.momentum = 0.9;
      const auto wanted = simulated(problem, ranks, 12, Row(ranks, 1));
      const Outcome found = run({.method = "synchronous",
                                 .settings = {{"overlap", overlap}},
                                 .problem = problem,
                                 .ranks = ranks,
                                 .steps = 12});
      for (int step = 1; step <= 12; ++step)
        for (int rank = 0; rank < ranks; ++rank) {
          expect_near(found.after(step, rank), wanted[step - 1], 1e-13, overlap);
          EXPECT_EQ(found.after(step, rank), found.after(step, 0)) << overlap;
        }
      for (const Row& finished : found.finished) EXPECT_EQ(finished, found.after(12, 0));
    }
}

TEST(Synchronous, FollowsTheMeanGradientBySumsOfAnyKind) {
  for (const int ranks : rank_counts)
    for (const comm::Sum& sum : comm::sums()) {
      const Problem problem = varied(ranks, 37);
      const Outcome found = run({.method = "synchronous",
                                 .problem = problem,
                                 .ranks = ranks,
                                 .steps = 5,
                                 .sum = sum.name,
                                 .ranks_per_node = 2});
      const Row wanted = simulated(problem, ranks, 5, Row(ranks, 1)).back();
      for (int rank = 0; rank < ranks; ++rank) {
        expect_near(found.after(5, rank), wanted, 1e-13, sum.name);
        EXPECT_EQ(found.after(5, rank), found.after(5, 0)) << sum.name;
      }
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

TEST(Synchronous, WeighsRanksByTheirSamplesAlsoOneWithNone) {
  for (const int ranks : rank_counts) {
    if (ranks == 1) continue;
    Problem problem = varied(ranks, 5);
    Row samples;
    for (int r = 0; r < ranks; ++r) {
      samples.push_back((3 * r + 2) % 4);  // 2, 1, 0, 3, ...
      problem.samples.push_back({std::int64_t(samples.back())});
    }
    const auto wanted = simulated(problem, ranks, 6, samples);
    for (const std::string& overlap : overlaps) {
      const Outcome found = run({.method = "synchronous",
                                 .settings = {{"overlap", overlap}},
                                 .problem = problem,
                                 .ranks = ranks,
                                 .steps = 6});
      for (int rank = 0; rank < ranks; ++rank)
        expect_near(found.after(6, rank), wanted.back(), 1e-13, overlap);
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

TEST(Synchronous, GoesOnFromWhatItSaved) {
  Problem problem = varied(3, 11);
  problem.momentum = 0.9;
  const Case whole{.method = "synchronous", .problem = problem, .ranks = 3, .steps = 9};
  Case halves = whole;
  halves.resume_after = 4;
  EXPECT_TRUE(run(halves) == run(whole));
}

}  // namespace
}  // namespace parajoule::methods
