// Post-local SGD in every world, against its formulas.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

const Given from_epoch_2{{"period", std::int64_t(3)}, {"from_epoch", std::int64_t(2)}};
const Given at_first_decay{{"period", std::int64_t(3)}};

/// Five steps an epoch; the rate rises in the first epoch and falls after step 12.
double rate(int step) { return step < 5 ? 0.02 * (step + 1) : step < 12 ? 0.1 : 0.01; }

Case trial(const Given& settings, int ranks, std::int64_t steps = 25) {
  Problem problem = varied(ranks, 37);
  problem.momentum = 0.9;
  problem.steps_per_epoch = 5;
  problem.learning_rate.clear();
  for (int step = 0; step < steps; ++step) problem.learning_rate.push_back(rate(step));
  return {.method = "post_local_sgd",
          .settings = settings,
          .problem = problem,
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

Outcome synchronous(const Case& trial) {
  Case other = trial;
  other.method = "synchronous";
  other.settings = {{"overlap", std::string("none")}};
  return run(other);
}

void expect_local_from(int first, const Given& settings) {
  for (const int ranks : rank_counts) {
    const Case made = trial(settings, ranks);
    const Outcome found = run(made), together = synchronous(made);
    Replicas all(made.problem, ranks);
    for (int step = 0; step < made.steps; ++step) {
      const std::vector<Row> gradients = all.gradients();
      for (int r = 0; r < ranks; ++r)
        all.update(r, step < first ? mean(gradients) : gradients[std::size_t(r)], rate(step));
      if (step >= first && (step - first) % 3 == 2) all.w.assign(std::size_t(ranks), mean(all.w));
      expect_after(found, step + 1, all.w, 1e-12);
      if (step >= first) continue;
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(found.after(step + 1, r), together.after(step + 1, r)) << step;
    }
    expect_ends_with(found, mean(all.w), 1e-12);
  }
}

TEST(PostLocalSgd, IsSynchronousUntilItsEpoch) { expect_local_from(10, from_epoch_2); }

TEST(PostLocalSgd, IsSynchronousUntilTheRateFirstFalls) { expect_local_from(12, at_first_decay); }

TEST(PostLocalSgd, GivesTheValuesOfToy4) {  // LS1
  const Outcome found =
      run({.method = "post_local_sgd",
           .settings = {{"period", std::int64_t(2)}, {"from_epoch", std::int64_t(0)}},
           .problem = toy4(),
           .ranks = 4,
           .steps = 200});
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(found.after(6, rank)[0], 0.557395312, 1e-9);
    EXPECT_NEAR(found.after(200, rank)[0], 0.688235294, 1e-9);
  }
}

TEST(PostLocalSgd, WeighsSamplesBeforeTheChangeAndARankWithoutThemOnlyAveragesAfter) {
  Case made = trial(from_epoch_2, 3, 16);
  made.problem.samples = {{2}, {0}, {1}};
  const Outcome found = run(made), together = synchronous(made);
  for (int step = 1; step <= 10; ++step)
    for (int r = 0; r < 3; ++r) EXPECT_EQ(found.after(step, r), together.after(step, r)) << step;
  for (const int step : {11, 12, 14, 15})
    EXPECT_EQ(found.after(step, 1), found.after(step - 1, 1)) << step;
}

TEST(PostLocalSgd, OnOneRankIsSerialBitForBit) {  // I15
  expect_serial_on_one_rank("post_local_sgd", {{"from_epoch", std::int64_t(0)}});
}

TEST(PostLocalSgd, RefusesTwoBeginnings) {
  Case made = trial(from_epoch_2, 2);
  EXPECT_EQ(refusal(made), "");
  made.settings["first_decay"] = true;
  EXPECT_NE(refusal(made).find("give one"), std::string::npos);
}

}  // namespace
}  // namespace parajoule::methods
