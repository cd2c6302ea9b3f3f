// Averaging with a delay of one against x_r <- mean of all x - lr g_r(x_r), one rank after the
// other.
#include <gtest/gtest.h>

#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Replicas;
using toy::Trial;

constexpr std::size_t count = 37;

void average_late(Replicas& all) {
  toy::Rows gradients;
  for (int r = 0; r < int(all.w.size()); ++r) gradients.push_back(all.gradient(r));
  all.w.assign(all.w.size(), toy::mean(all.w));
  for (int r = 0; r < int(all.w.size()); ++r) all.update(r, gradients[r]);
}

TEST(DelayedAveraging, EqualsItsSequentialSimulation) {
  for (int ranks : {1, 2, 3, 4, 5, 8}) {
    for (double momentum : {0.0, 0.9}) {
      Replicas all(ranks, count, momentum);
      const auto done = toy::train(
          {.method = "delayed_averaging", .ranks = ranks, .count = count, .momentum = momentum});
      for (const auto& after : done.after) {
        average_late(all);
        toy::expect_near(after, all.w);
      }
      const toy::Rows mean(ranks, toy::mean(all.w));
      toy::expect_near(done.evaluated, mean);
      toy::expect_near(done.finished, mean);
    }
  }
}

TEST(DelayedAveraging, MovesTheMeanByTheMeanGradient) {
  // Exactly, for any averaging that keeps the sum.
  const auto done = toy::train({.method = "delayed_averaging"});
  Replicas all(4, 3);
  auto mean = toy::mean(all.w);
  for (const auto& after : done.after) {
    toy::Rows gradients;
    for (int r = 0; r < 4; ++r) gradients.push_back(all.gradient(r));
    const auto gradient = toy::mean(gradients);
    for (std::size_t k = 0; k < mean.size(); ++k) {
      mean[k] -= toy::rate * gradient[k];
      EXPECT_NEAR(toy::mean(after)[k], mean[k], 1e-14);
    }
    all.w = after;
  }
}

TEST(DelayedAveraging, OnOneRankIsSerialSgdBitForBit) {
  const auto ours = toy::train({.method = "delayed_averaging", .ranks = 1, .momentum = 0.9});
  const auto serial = toy::train({.method = "synchronous", .ranks = 1, .momentum = 0.9});
  EXPECT_EQ(ours.after, serial.after);
}

TEST(DelayedAveraging, ARankWithoutSamplesTakesTheMean) {
  Trial trial{.method = "delayed_averaging", .steps = 3};
  trial.progress = [](int rank, int, Progress& at) { at.samples = rank == 2 ? 0 : 1; };
  const auto done = toy::train(trial);
  const auto mean = toy::mean(done.after[1]);
  for (std::size_t k = 0; k < mean.size(); ++k) EXPECT_NEAR(done.last()[2][k], mean[k], 1e-15);
}

TEST(DelayedAveraging, EvaluatesTheMeanOfRunningStatistics) {
  for (double buffer : toy::train({.method = "delayed_averaging", .steps = 1}).buffers)
    EXPECT_NEAR(buffer, 1.5, 1e-15);
}

TEST(DelayedAveraging, Resumes) {
  toy::expect_resumes({.method = "delayed_averaging", .steps = 5, .momentum = 0.9});
}

}  // namespace
}  // namespace parajoule::strategy
