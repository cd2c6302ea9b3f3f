#include "strategy/post_local_sgd.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Given;
using toy::Replicas;
using toy::Trial;

const Given from_epoch_2{{"period", std::int64_t(3)}, {"from_epoch", std::int64_t(2)}};
const Given at_first_decay{{"period", std::int64_t(3)}};

/// Five steps an epoch; the rate rises in the first epoch and falls after step 12.
Trial trial(const Given& options, int steps) {
  Trial made{.method = "post_local_sgd", .options = options, .steps = steps, .count = 5};
  made.momentum = 0.9;
  made.progress = [](int, int step, Progress& progress) {
    progress.epoch = step / 5;
    progress.learning_rate = step < 5 ? 0.02 * (step + 1) : step < 12 ? 0.1 : 0.01;
  };
  return made;
}

void expect_local_from(int first, const Given& options) {
  const Trial made = trial(options, 25);
  const auto ours = toy::train(made);
  Trial synchronous = made;
  synchronous.method = "synchronous";
  synchronous.options = {{"overlap", std::string("none")}};
  const auto together = toy::train(synchronous);

  Replicas all(4, made.count, made.momentum);
  for (int step = 0; step < made.steps; ++step) {
    Progress progress;
    made.progress(0, step, progress);
    toy::Rows gradients;
    for (int r = 0; r < 4; ++r) gradients.push_back(all.gradient(r));
    for (int r = 0; r < 4; ++r)
      all.update(r, step < first ? toy::mean(gradients) : gradients[r], progress.learning_rate);
    if (step >= first && (step - first) % 3 == 2) all.w.assign(4, toy::mean(all.w));
    toy::expect_near(ours.after[step], all.w);
    if (step < first) {
      EXPECT_EQ(ours.after[step], together.after[step]) << step;
    }
  }
  toy::expect_near(ours.evaluated, toy::Rows(4, toy::mean(all.w)));
  toy::expect_near(ours.finished, toy::Rows(4, toy::mean(all.w)));
}

TEST(PostLocalSgd, IsSynchronousUntilItsEpoch) { expect_local_from(10, from_epoch_2); }

TEST(PostLocalSgd, IsSynchronousUntilTheRateFirstFalls) { expect_local_from(12, at_first_decay); }

TEST(PostLocalSgd, FollowsThePrintedTraceOfLocalSgd) {  // LS1
  Trial made = trial({{"period", std::int64_t(2)}, {"from_epoch", std::int64_t(0)}}, 6);
  made.momentum = 0;
  made.progress = [](int, int, Progress&) {};
  for (const double w : toy::first(toy::train(made).last())) EXPECT_NEAR(w, 0.557395312, 1e-9);
  made.steps = 1000;
  for (const double w : toy::first(toy::train(made).last())) EXPECT_NEAR(w, 0.688235294, 1e-9);
}

TEST(PostLocalSgd, SendsASumAStepAndThenOneAPeriod) {  // LS3
  Trial made = trial(from_epoch_2, 21);
  made.ranks_per_node = 1;
  const auto done = toy::train(made);
  const std::uint64_t alone = (21 - 10) / 3;  // and running statistics, one number
  EXPECT_EQ(done.bytes, (10 + alone) * toy::sum_bytes(4, 5) + alone * toy::sum_bytes(4, 1));
}

TEST(PostLocalSgd, WeighsSamplesBeforeTheChange) {
  Trial made = trial(from_epoch_2, 8);
  made.progress = [](int rank, int, Progress& progress) {
    progress.samples = 3 - rank;
    progress.samples_of_all = 6;
  };
  Trial synchronous = made;
  synchronous.method = "synchronous";
  synchronous.options = {{"overlap", std::string("none")}};
  EXPECT_EQ(toy::train(made).after, toy::train(synchronous).after);
}

TEST(PostLocalSgd, RefusesTwoBeginnings) {
  const Method& chosen = method("post_local_sgd");
  const auto part = [&](const Given& given) {
    return chosen.part(0, 2, comm::Nodes{{0, 0}},
                       base::Settings(chosen.name, chosen.options, given));
  };
  const std::int64_t three = 3;
  EXPECT_THROW(part({{"from_epoch", three}, {"first_decay", true}}), base::Error);
  EXPECT_EQ(part({{"from_epoch", three}}).share, 0.5);
  EXPECT_EQ(part({{"from_epoch", three}, {"first_decay", false}}).share, 0.5);
}

}  // namespace
}  // namespace parajoule::strategy
