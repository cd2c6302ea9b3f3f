#include "strategy/cocod_sgd.h"

#include <gtest/gtest.h>

#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Replicas;
using toy::Trial;

Trial trial(std::int64_t period, int ranks, int steps) {
  return {.method = "cocod_sgd",
          .options = {{"period", period}},
          .ranks = ranks,
          .steps = steps,
          .count = 7};
}

TEST(CocodSgd, FollowsThePrintedTrace) {  // M1
  const auto done = toy::train(trial(2, 4, 6));
  const std::vector<std::vector<double>> printed{{0.19, -0.36, 1.02, 0.32},
                                                 {0.4464, 0.0621, 0.7923, 0.4077},
                                                 {0.532309, 0.044769, 1.043052, 0.486197}};
  for (int round = 0; round < 3; ++round) {
    const auto ours = toy::first(done.after[2 * round + 1]);
    for (int r = 0; r < 4; ++r) EXPECT_NEAR(ours[r], printed[round][r], 5e-7) << round << " " << r;
  }
  const auto limit = toy::first(toy::train(trial(2, 4, 1000)).last());
  const std::vector<double> theirs{0.717944773, 0.223789912, 1.115466411, 0.600216024};
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(limit[r], theirs[r], 1e-9);
}

TEST(CocodSgd, EqualsItsSequentialSimulation) {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    Trial made = trial(3, ranks, 11);
    made.momentum = 0.9;
    made.progress = [](int rank, int step, Progress& progress) {
      if (rank == 1 && step % 4 == 2) progress.samples = 0;
    };
    const auto ours = toy::train(made);
    Replicas all(ranks, made.count, made.momentum);
    auto start = all.w;
    for (int step = 0; step < made.steps; ++step) {
      if (step % 3 == 0) start = all.w;
      for (int r = 0; r < ranks; ++r)
        if (!(r == 1 && step % 4 == 2)) all.step(r);
      if (step % 3 == 2) {
        const auto xhat = toy::mean(start);
        for (int r = 0; r < ranks; ++r)
          for (std::size_t k = 0; k < made.count; ++k)
            all.w[r][k] = xhat[k] + (all.w[r][k] - start[r][k]);
      }
      toy::expect_near(ours.after[step], all.w);
    }
    const toy::Rows mean(ranks, toy::mean(all.w));
    toy::expect_near(ours.evaluated, mean);
    toy::expect_near(ours.finished, mean);
  }
}

TEST(CocodSgd, OneRankIsSerialToTheLastBit) {
  Trial made = trial(3, 1, 50);
  made.momentum = 0.9;
  Trial serial = made;
  serial.method = "synchronous";
  serial.options = {};
  EXPECT_EQ(toy::train(made).after, toy::train(serial).after);
}

TEST(CocodSgd, SendsOneSumARound) {
  Trial made = trial(3, 4, 9);
  made.ranks_per_node = 1;
  EXPECT_EQ(toy::train(made).bytes, 3 * toy::sum_bytes(4, 7));
}

}  // namespace
}  // namespace parajoule::strategy
