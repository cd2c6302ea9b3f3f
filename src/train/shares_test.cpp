// Ranks that take different numbers of steps, and samples that a method chooses, in real training.

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/solo.h"
#include "data/order.h"
#include "nn/gradients.h"
#include "nn/initialise.h"
#include "nn/replica.h"
#include "train/job.h"
#include "train/small_run.h"

namespace parajoule::train {
namespace {

/// Rank 1 of three takes one step while the others take five, ten samples each, on 250 of them: an
/// epoch ends within the third round. Three epochs take 12, 12 and 11 steps: the third begins and
/// ends with one that all three take.
class Shares : public Train {
 protected:
  Experiment unequal(std::string_view name, bool biased = false) const {
    Experiment made = experiment(name);
    made.data = small_pictures();
    made.strategy =
        choice(strategy::method("biased_local_sgd"), {{"slow_ranks", std::vector<std::int64_t>{1}},
                                                      {"slow_steps", std::int64_t(1)},
                                                      {"fast_steps", std::int64_t(5)},
                                                      {"biased", biased}});
    made.global_batch_size = made.reference_batch_size = 30;
    made.epochs = 3;
    made.steps.reset();
    return made;
  }

  std::vector<double> losses_of_epochs(const Result& result) const {
    std::vector<double> losses;
    for (const store::Epoch& row : result.metrics)
      if (row.metric == "loss") losses.push_back(row.numerator / row.denominator);
    return losses;
  }
};

constexpr int ranks = 3;

/// A replica with momentum, moved by hand.
struct Copy {
  Copy(const Experiment& made, const data::Dataset& dataset)
      : net(nn::model(made.model.name)
                .make(made.model.settings, {.channels = 1, .height = 8, .width = 8},
                      int(dataset.classes()))) {
    nn::initialise(net, made.seed);
    const std::size_t count = nn::layout_of(net).parameter_count();
    weights.resize(count);
    gradients.resize(count);
    velocity.resize(count);
    const nn::Replica replica{.weights = base::Vector(std::span(weights)),
                              .gradients = base::Vector(std::span(gradients)),
                              .buffers = base::Vector(std::span(none))};
    nn::bind(net, replica);
    backward = std::make_unique<nn::Gradients>(net, replica);
  }

  void step(const Experiment& made, const data::Dataset& dataset, const nn::Task& task,
            std::vector<std::int64_t> samples, std::int64_t epoch) {
    const std::size_t count = samples.size();
    data::Loader loader(dataset,
                        {.samples = std::move(samples), .batches = {{.range = {0, count}}}},
                        {.view = data::View::training(made.seed, epoch), .threads = 0});
    const auto [images, labels] =
        tensors(loader.take(), data::Axes::channels_first, net.input(), base::Element::float64);
    backward->backward(task.loss(net.forward(images), labels));
    for (std::size_t i = 0; i < weights.size(); ++i) {
      velocity[i] = 0.9 * velocity[i] + gradients[i];
      weights[i] -= made.learning_rate * velocity[i];
    }
  }

  nn::Net net;
  std::vector<double> weights, gradients, velocity, none;
  std::unique_ptr<nn::Gradients> backward;
};

void average(std::vector<std::unique_ptr<Copy>>& copies) {
  for (std::size_t i = 0; i < copies.front()->weights.size(); ++i) {
    double sum = 0;
    for (const auto& copy : copies) sum += copy->weights[i];
    for (const auto& copy : copies) copy->weights[i] = sum / double(copies.size());
  }
}

/// The weights at the end of three epochs, step by step as the method says.
std::vector<double> simulated(const Experiment& made) {
  const auto dataset = data::kind(made.data.name).open(made.data.settings, data::Split::training);
  const auto task = nn::classification(int(dataset->classes()));
  std::vector<std::unique_ptr<Copy>> copies;
  for (int r = 0; r < ranks; ++r) copies.push_back(std::make_unique<Copy>(made, *dataset));
  std::int64_t step = 0;
  for (std::int64_t epoch = 0; epoch < made.epochs; ++epoch) {
    const auto order = data::order(dataset->size(), made.seed, epoch);
    for (std::size_t at = 0; at < order.size();) {
      ++step;
      std::vector<int> taking{0, 1, 2};
      if (step % 5 != 0) taking = {0, 2};
      const std::size_t all = std::min(order.size() - at, 10 * taking.size());
      for (std::size_t i = 0; i < taking.size(); ++i) {
        const auto begin = order.begin() + std::ptrdiff_t(at + all * i / taking.size());
        const auto end = order.begin() + std::ptrdiff_t(at + all * (i + 1) / taking.size());
        copies[std::size_t(taking[i])]->step(made, *dataset, *task, {begin, end}, epoch);
      }
      at += all;
      if (step % 5 == 0) average(copies);
    }
  }
  average(copies);
  return copies.front()->weights;
}

TEST_F(Shares, AreTrainedAsTheMethodSays) {
  const Experiment made = unequal("shares");
  const Result result = run(made, ranks);
  // The names of a checkpoint are sorted, a replica is in the order of the layers.
  std::vector<double> found;
  for (const auto& [name, entry] : result.weights) {
    const auto* numbers = reinterpret_cast<const double*>(entry.bytes.data());
    found.insert(found.end(), numbers, numbers + entry.bytes.size() / sizeof(double));
  }
  std::vector<double> wanted = simulated(made);
  ASSERT_EQ(found.size(), wanted.size());
  std::ranges::sort(found);
  std::ranges::sort(wanted);
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-12);
}

TEST_F(Shares, TakeEachSampleOnceAnEpochAndStepsInTheirRatio) {
  const Result result = run(unequal("counted"), ranks);
  EXPECT_EQ(result.outcome.steps, 12 + 12 + 11);
  std::vector<std::int64_t> steps(ranks), samples(ranks);
  for (const store::Step& step : result.steps) {
    ++steps[std::size_t(step.rank)];
    samples[std::size_t(step.rank)] += step.samples;
    EXPECT_TRUE(step.rank != 1 || step.step % 5 == 4) << step.step;
    EXPECT_FALSE(std::isnan(step.loss));
  }
  EXPECT_EQ(steps, (std::vector<std::int64_t>{35, 7, 35}));
  EXPECT_EQ(samples[0] + samples[1] + samples[2], 3 * 250);
  EXPECT_EQ(samples[1], 70);
}

TEST_F(Shares, ResumeBitForBitAlsoWithinARound) {
  for (const bool biased : {false, true}) {
    const std::string name = biased ? "biased" : "plain";
    const Result uninterrupted = run(unequal(name, biased), ranks);
    Experiment halves = unequal(name + "-halves", biased);
    halves.checkpoint_every_steps = 8;  // of which the last lies in the third epoch
    run(halves, ranks);
    forget_the_end(halves, 35 + 3);
    const Result resumed = run(halves, ranks);
    EXPECT_EQ(resumed.steps.size(), 3u + 2u * 2u) << name;  // all take the last
    EXPECT_EQ(largest_difference(uninterrupted.weights, resumed.weights), 0) << name;
  }
}

TEST_F(Shares, StopAtOneStepAndGoOn) {
  for (const bool biased : {false, true}) {
    const std::string name = biased ? "biased-stopped" : "stopped";
    const Experiment made = unequal(name, biased);
    const Result stopped = run_asking(made, ranks, [](int rank) { return rank == 1; });
    EXPECT_TRUE(stopped.outcome.stopped);
    EXPECT_GT(stopped.outcome.steps, 0);
    EXPECT_EQ(run(made, ranks).outcome.steps, 35);
    EXPECT_EQ(largest_difference(run(unequal(name + "-whole", biased), ranks).weights,
                                 weights_in(made.folder)),
              0);
  }
}

TEST_F(Shares, OfAnotherNumberOfRanksAreNoContinuation) {
  Experiment made = unequal("others");
  made.checkpoint_every_steps = 8;
  run(made, ranks);
  try {
    run(made, 2);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_NE(std::string(error.what()).find("start with 3 ranks"), std::string::npos)
        << error.what();
  }
}

/// The mean loss in the steps of rank 1 after its first.
double loss_of_the_slow(const std::vector<store::Step>& steps) {
  double sum = 0;
  int count = 0;
  for (const store::Step& step : steps) {
    if (step.rank != 1 || step.step < 10) continue;
    sum += step.loss;
    ++count;
  }
  return sum / count;
}

TEST_F(Shares, GiveASlowRankTheSamplesOfGreatestLoss) {
  Experiment plain = unequal("evenly");
  Experiment biased = unequal("chosen", true);
  plain.epochs = biased.epochs = 8;
  const Result evenly = run(plain, ranks), chosen = run(biased, ranks);
  EXPECT_GT(loss_of_the_slow(chosen.steps), 1.2 * loss_of_the_slow(evenly.steps));
  EXPECT_EQ(chosen.steps.size(), evenly.steps.size());
  for (const Result* result : {&evenly, &chosen}) {
    const auto losses = losses_of_epochs(*result);
    ASSERT_EQ(losses.size(), 8u);
    EXPECT_LT(losses.back(), 0.9 * losses.front());
  }
}

TEST_F(Shares, ARoundThatTakesMoreThanThereIsIsRefused) {
  Experiment made = unequal("large", true);
  made.global_batch_size = made.reference_batch_size = 75;
  try {
    run(made, ranks);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("a round takes 275 samples"), std::string::npos)
        << error.what();
  }
}

/// One rank that trains, step by step.
class SingleLosses : public Train {
 protected:
  SingleLosses() {
    made_ = experiment("single");
    made_.data = small_pictures();
    made_.global_batch_size = made_.reference_batch_size = 10;
    job_ = std::make_unique<Job>(made_, world_);
    job_->begin_epoch(job_->shards(0, 0), 0, 0);
  }

  std::vector<std::int64_t> begin_step() {
    const data::Loader::Batch batch = job_->batches.take();
    job_->worker.begin_step(batch, job_->axes, {.samples = batch.count});
    return {batch.indices.begin(), batch.indices.end()};
  }

  /// Of one sample alone.
  double loss_of(std::int64_t sample) {
    data::Loader loader(*job_->training, {.samples = {sample}, .batches = {{.range = {0, 1}}}},
                        {.view = data::View::training(made_.seed, 0), .threads = 0});
    const auto [images, labels] =
        tensors(loader.take(), job_->axes, job_->net.input(), base::Element::float64);
    return job_->task->loss(job_->net.forward(images), labels).item<double>();
  }

  void expect_losses_of(const std::set<std::int64_t>& samples) {
    const auto losses = job_->worker.losses().as<double>();
    ASSERT_EQ(losses.size(), 250u);
    for (std::int64_t s = 0; s < 250; ++s) {
      if (samples.contains(s))
        EXPECT_NEAR(losses[std::size_t(s)], loss_of(s), 1e-12) << s;
      else
        EXPECT_TRUE(std::isinf(losses[std::size_t(s)])) << s;
    }
  }

  comm::Solo world_;
  Experiment made_;
  std::unique_ptr<Job> job_;
};

TEST_F(SingleLosses, AreThoseOfTheBatch) {
  job_->worker.losses();
  const auto batch = begin_step();
  expect_losses_of({});
  job_->worker.compute_gradients();
  expect_losses_of({batch.begin(), batch.end()});
  EXPECT_EQ(batch.size(), 10u);
}

TEST_F(SingleLosses, AreThoseOfSamplesThatWereDrawn) {
  job_->worker.losses();
  begin_step();
  std::vector<std::int64_t> chosen;
  for (std::int64_t s = 0; s < 25; ++s) chosen.push_back(200 + s);
  job_->worker.draw(chosen);
  job_->worker.compute_gradients();
  EXPECT_EQ(job_->worker.progress().samples, 10);
  expect_losses_of({chosen.begin(), chosen.begin() + 10});

  double mean = 0;
  for (int i = 0; i < 10; ++i) mean += loss_of(chosen[std::size_t(i)]) / 10;
  EXPECT_NEAR(job_->worker.loss_sum() / 10, mean, 1e-12);
}

}  // namespace
}  // namespace parajoule::train
