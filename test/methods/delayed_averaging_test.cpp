// Averaging with a delay of one in every world, against its formula.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

Case trial(Problem problem, int ranks, std::int64_t steps) {
  return {.method = "delayed_averaging",
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

TEST(DelayedAveraging, EqualsItsSequentialSimulation) {
  for (const int ranks : rank_counts) {
    const Problem problem = uneven(ranks, 37);
    const Outcome found = run(trial(problem, ranks, 10));
    Replicas all(problem, ranks);
    for (int step = 1; step <= 10; ++step) {
      const std::vector<Row> gradients = all.gradients();
      all.w.assign(std::size_t(ranks), mean(all.w));
      for (int r = 0; r < ranks; ++r)
        if (has_samples(problem, r, step - 1)) all.update(r, gradients[std::size_t(r)], 0.1);
      expect_after(found, step, all.w);
    }
    expect_ends_with(found, mean(all.w));
  }
}

TEST(DelayedAveraging, MovesTheMeanByTheMeanGradient) {
  const Problem problem = varied(4, 3);
  const Outcome found = run(trial(problem, 4, 10));
  Replicas before(problem, 4);
  for (const auto& after : found.weights) {
    const Row from = mean(before.w), gradient = mean(before.gradients()), to = mean(after);
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(to[k], from[k] - 0.1 * gradient[k], 1e-14);
    before.w = after;
  }
}

TEST(DelayedAveraging, OnOneRankIsSerialBitForBit) {
  expect_serial_on_one_rank("delayed_averaging", {});
}

}  // namespace
}  // namespace parajoule::methods
