// What every method must do in real training, with ranks as threads: learn, stop, resume.

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "train/small_run.h"

namespace parajoule::train {
namespace {

class EveryMethod : public Train, public testing::WithParamInterface<std::string_view> {
 protected:
  /// `method` with an optimizer that it can work with.
  Experiment experiment_of(std::string_view name) const {
    const strategy::Method& method = strategy::method(GetParam());
    Experiment made = experiment(name);
    made.strategy = choice(method);
    try {
      if (method.check_optimizer) method.check_optimizer(0.9);
    } catch (const base::Error&) {
      made.optimizer = choice(optimize::optimizer("sgd"), {{"momentum", 0.0}});
    }
    return made;
  }
  static int trainers(int ranks) {
    const strategy::Method& method = strategy::method(GetParam());
    const base::Settings settings(method.name, method.options, {});
    const comm::Nodes one_node{std::vector<int>(std::size_t(ranks), 0)};
    int trainers = 0;
    for (int rank = 0; rank < ranks; ++rank)
      trainers += method.part(rank, ranks, one_node, settings).trains.has_value();
    return trainers;
  }
};

TEST_P(EveryMethod, ResumesBitForBitWithTheSameRanks) {
  constexpr int ranks = 3;
  const Result uninterrupted = run(experiment_of("whole"), ranks);
  Experiment halves = experiment_of("halves");
  halves.checkpoint_every_steps = 9;
  run(halves, ranks);
  forget_the_end(halves, 21);
  const Result resumed = run(halves, ranks);
  EXPECT_EQ(resumed.steps.size(), 2u * std::size_t(trainers(ranks)));
  EXPECT_EQ(largest_difference(uninterrupted.weights, resumed.weights), 0);
}

TEST_P(EveryMethod, LearnsOverEpochs) {
  Experiment made = experiment_of("learns");
  made.data = small_pictures();
  made.epochs = 8;  // of five steps, the last of each with ten samples
  made.steps.reset();
  const Result result = run(made, 4);
  std::vector<double> losses;
  for (const store::Epoch& row : result.metrics)
    if (row.metric == "loss") losses.push_back(row.numerator / row.denominator);
  ASSERT_EQ(losses.size(), 8u);
  EXPECT_LT(losses.back(), 0.9 * losses.front());
  EXPECT_EQ(result.outcome.steps, 8 * 5);
}

// A signal may reach one process only; the others must not wait for it in the next sum.
TEST_P(EveryMethod, StopsAllRanksAtOneStepWhenOneIsAsked) {
  Experiment made = experiment_of("asked");
  const Result stopped = run_asking(made, 3, [](int rank) { return rank == 1; });
  EXPECT_TRUE(stopped.outcome.stopped);
  ASSERT_GT(stopped.outcome.steps, 0);
  EXPECT_EQ(stopped.steps.size(), std::size_t(trainers(3) * stopped.outcome.steps));
  EXPECT_EQ(run(made, 3).outcome.steps, 20);
}

TEST_P(EveryMethod, ALastBatchSmallerThanTheRanksIsTakenByAll) {
  Experiment made = experiment_of("short");
  made.data = small_pictures();
  const auto training = std::size_t(trainers(4));
  made.global_batch_size = made.reference_batch_size = 83;  // leaves one sample for all ranks
  made.steps.reset();
  const Result result = run(made, 4);
  ASSERT_EQ(result.steps.size(), 4u * training);
  std::size_t samples = 0, none = 0;
  for (const store::Step& step : result.steps) {
    samples += std::size_t(step.samples);
    none += step.samples == 0;
    EXPECT_EQ(std::isnan(step.loss), step.samples == 0);
  }
  EXPECT_EQ(samples, 250u);
  EXPECT_EQ(none, training - 1);
}

std::vector<std::string_view> every_method() {
  std::vector<std::string_view> names;
  for (const strategy::Method& method : strategy::methods()) names.push_back(method.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Train, EveryMethod, testing::ValuesIn(every_method()),
                         [](const auto& method) { return std::string(method.param); });

}  // namespace
}  // namespace parajoule::train
