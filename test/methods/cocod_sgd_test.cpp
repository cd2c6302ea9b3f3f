// CoCoD-SGD in every world, against its formulas and the values of its specification.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

Case with_period(std::int64_t period, Problem problem, int ranks, std::int64_t steps) {
  return {.method = "cocod_sgd",
          .settings = {{"period", period}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

TEST(CocodSgd, GivesTheValuesOfToy4) {  // M1
  const Outcome found = run(with_period(2, toy4(), 4, 300));
  const std::vector<Row> printed{{0.19, -0.36, 1.02, 0.32},
                                 {0.4464, 0.0621, 0.7923, 0.4077},
                                 {0.532309, 0.044769, 1.043052, 0.486197}};
  const Row limit{0.717944773, 0.223789912, 1.115466411, 0.600216024};
  for (int rank = 0; rank < 4; ++rank) {
    for (int round = 0; round < 3; ++round)
      EXPECT_NEAR(found.after(2 * round + 2, rank)[0], printed[round][rank], 5e-7);
    EXPECT_NEAR(found.after(300, rank)[0], limit[rank], 1e-9);
  }
}

TEST(CocodSgd, EqualsItsSequentialSimulation) {
  for (const int ranks : rank_counts) {
    const Problem problem = uneven(ranks, 37);
    const Outcome found = run(with_period(3, problem, ranks, 11));
    Replicas all(problem, ranks);
    std::vector<Row> start;
    for (int step = 0; step < 11; ++step) {
      if (step % 3 == 0) start = all.w;
      all.step(0.1);
      if (step % 3 == 2) {
        const Row xhat = mean(start);
        for (std::size_t r = 0; r < start.size(); ++r)
          for (std::size_t k = 0; k < 37; ++k) all.w[r][k] = xhat[k] + (all.w[r][k] - start[r][k]);
      }
      expect_after(found, step + 1, all.w);
    }
    expect_ends_with(found, mean(all.w));
  }
}

TEST(CocodSgd, OnEqualDataAllRanksAreSerialSgd) {  // M2
  Problem serial = varied(1, 7);
  serial.momentum = 0.9;
  const auto& own = std::get<exact::Quadratic>(serial.objective);
  Problem same = Problem::quadratic({4, own.curvature[0]}, {4, own.target[0]});
  same.momentum = 0.9;
  const Outcome alone = run({.method = "synchronous", .problem = serial, .ranks = 1, .steps = 10});
  const Outcome found = run(with_period(2, same, 4, 10));
  for (int step = 1; step <= 10; ++step)
    for (int rank = 0; rank < 4; ++rank)
      EXPECT_EQ(found.after(step, rank), alone.after(step, 0)) << step << ", rank " << rank;
}

TEST(CocodSgd, OnOneRankIsSerialBitForBit) {  // I15
  expect_serial_on_one_rank("cocod_sgd", {{"period", std::int64_t(3)}});
}

}  // namespace
}  // namespace parajoule::methods
