#include "strategy/overlap_local_sgd.h"

#include <gtest/gtest.h>

#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Replicas;
using toy::Trial;

Trial trial(std::int64_t period, double pull, double momentum, int steps = 12) {
  return {.method = "overlap_local_sgd",
          .options = {{"period", period}, {"pull", pull}, {"momentum", momentum}},
          .steps = steps};
}

TEST(OverlapLocalSgd, EqualsItsSequentialSimulation) {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    for (const double beta : {0.0, 0.7}) {
      Trial made = trial(2, 0.6, beta, 13);
      made.ranks = ranks;
      made.momentum = 0.5;
      const auto ours = toy::train(made);
      Replicas all(ranks, made.count, made.momentum);
      Replicas::Row z(made.count), v(made.count), next_mean(made.count);
      for (int step = 0; step < made.steps; ++step) {
        all.step_all();
        if (step % 2 == 1) {
          for (std::size_t k = 0; k < made.count; ++k) {
            v[k] = beta * v[k] + (next_mean[k] - z[k]);
            z[k] += v[k];
            for (auto& x : all.w) x[k] = 0.4 * x[k] + 0.6 * z[k];
          }
          next_mean = toy::mean(all.w);
        }
        toy::expect_near(ours.after[step], all.w);
      }
      toy::expect_near(ours.evaluated, toy::Rows(ranks, toy::mean(all.w)));
      toy::expect_near(ours.finished, toy::Rows(ranks, toy::mean(all.w)));
    }
  }
}

TEST(OverlapLocalSgd, WithoutPullEachRankTrainsAlone) {
  Replicas alone(4, 3);
  for (int step = 0; step < 12; ++step) alone.step_all();
  toy::expect_near(toy::train(trial(2, 0, 0.7)).last(), alone.w);
}

// The anchor is where the replicas were before their last steps, so nothing is left of these.
TEST(OverlapLocalSgd, PulledAllTheWayItNeverLeavesItsStart) {
  const auto done = toy::train(trial(3, 1, 0));
  EXPECT_NE(done.after[1][0][0], 0);
  for (int step : {2, 5, 8, 11})
    for (const auto& row : done.after[step]) EXPECT_EQ(row, Replicas::Row(3));
}

TEST(OverlapLocalSgd, SendsOneSumARound) {
  Trial made = trial(4, 0.6, 0.7, 15);
  made.ranks_per_node = 1;
  made.counts_what_is_under_way = true;
  EXPECT_EQ(toy::train(made).bytes, 3 * toy::sum_bytes(4, 3));
}

}  // namespace
}  // namespace parajoule::strategy
