// What methods that average weights send, counted, against the formulas of their specifications.

#include <gtest/gtest.h>

#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Trial;

/// Four ranks on nodes of one, where a sum is a ring's.
Trial trial(std::string_view method, const toy::Given& options, int steps) {
  Trial made{.method = method, .options = options, .steps = steps};
  made.ranks_per_node = 1;
  return made;
}

TEST(AveragingTraffic, OfLocalSgdIsOneSumAPeriod) {  // and of running statistics, one number
  const auto done = toy::train(trial("local_sgd", {{"period", std::int64_t(3)}}, 10));
  EXPECT_EQ(done.bytes, 3 * (toy::sum_bytes(4, 3) + toy::sum_bytes(4, 1)));
}

TEST(AveragingTraffic, OfPostLocalSgdIsOneSumAStepAndThenOneAPeriod) {  // LS3
  Trial made =
      trial("post_local_sgd", {{"period", std::int64_t(3)}, {"from_epoch", std::int64_t(2)}}, 21);
  made.progress = [](int, int step, Progress& progress) { progress.epoch = step / 5; };
  const std::uint64_t alone = (21 - 10) / 3;
  EXPECT_EQ(toy::train(made).bytes,
            (10 + alone) * toy::sum_bytes(4, 3) + alone * toy::sum_bytes(4, 1));
}

TEST(AveragingTraffic, OfCocodSgdIsOneSumARound) {
  const auto done = toy::train(trial("cocod_sgd", {{"period", std::int64_t(3)}}, 9));
  EXPECT_EQ(done.bytes, 3 * toy::sum_bytes(4, 3));
}

TEST(AveragingTraffic, OfOverlapLocalSgdIsOneSumARound) {
  Trial made = trial("overlap_local_sgd", {{"period", std::int64_t(4)}}, 15);
  made.counts_what_is_under_way = true;
  EXPECT_EQ(toy::train(made).bytes, 3 * toy::sum_bytes(4, 3));
}

TEST(AveragingTraffic, OfDelayedAveragingIsOneSumAStep) {
  EXPECT_EQ(toy::train(trial("delayed_averaging", {}, 7)).bytes, 7 * toy::sum_bytes(4, 3));
}

TEST(AveragingTraffic, OfOldsgdIsItsWeightsToEachNeighbourOnceARound) {  // N4
  for (const auto& [topology, degree] : {std::pair("ring", 2), std::pair("exponential", 5)}) {
    Trial made =
        trial("oldsgd", {{"period", std::int64_t(3)}, {"topology", std::string(topology)}}, 9);
    made.ranks = 8;
    const auto done = toy::train(made);
    EXPECT_EQ(done.messages, 3u * 8 * degree) << topology;
    EXPECT_EQ(done.bytes, 3u * 8 * degree * 3 * sizeof(double)) << topology;
  }
}

TEST(AveragingTraffic, OfBiasedLocalSgdIsOneSumARound) {
  const auto done = toy::train(
      trial("biased_local_sgd", {{"fast_steps", std::int64_t(4)}, {"biased", false}}, 8));
  EXPECT_EQ(done.bytes, 2 * (toy::sum_bytes(4, 3) + toy::sum_bytes(4, 1)));
}

}  // namespace
}  // namespace parajoule::strategy
