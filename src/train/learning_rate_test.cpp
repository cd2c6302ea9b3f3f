#include "train/learning_rate.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::train {
namespace {

using Given = std::map<std::string, base::Value>;
using testing::HasSubstr;

base::Settings settings(std::string_view name, const Given& given = {}) {
  return {name, schedule(name).options, given};
}

LearningRate rate(std::string_view name, const Given& given, LearningRate::Options options) {
  return {name, settings(name, given), options};
}

/// A schedule seen alone: no scaling, full rate 1.
LearningRate unscaled(std::string_view name, const Given& given, std::int64_t epochs = 100) {
  return rate(
      name, given,
      {.learning_rate = 1, .reference_batch_size = 64, .global_batch_size = 64, .epochs = epochs});
}

Taken epoch(double position) {
  const double whole = std::floor(position);
  return {.epochs = std::int64_t(whole),
          .samples = std::int64_t(std::llround((position - whole) * 1000)),
          .of = 1000};
}

constexpr std::int64_t imagenet = 1281167;

LearningRate::Options imagenet_batch(std::int64_t global_batch_size) {
  return {.learning_rate = 0.1,
          .reference_batch_size = 256,
          .global_batch_size = global_batch_size,
          .epochs = 100};
}

TEST(LearningRate, TheStudysRatesRiseOncePerEpoch) {
  const Given study = {{"warmup_epochs", std::int64_t(5)}, {"warmup", std::string("epoch")}};
  const LearningRate at_8192 = rate("plateau", study, imagenet_batch(8192));
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 0}), 0.1);
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 0, .samples = imagenet - 1, .of = imagenet}), 0.1);
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 1}), 0.72);
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 4, .samples = 8192, .of = imagenet}), 2.58);
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 5}), 3.2);
  EXPECT_DOUBLE_EQ(at_8192.at({.epochs = 99}), 3.2);
  const LearningRate at_65536 = rate("plateau", study, imagenet_batch(65536));
  EXPECT_DOUBLE_EQ(at_65536.at({.epochs = 0}), 0.1);
  EXPECT_DOUBLE_EQ(at_65536.at({.epochs = 5}), 25.6);
  const LearningRate at_256 = rate("plateau", study, imagenet_batch(256));
  for (std::int64_t e = 0; e < 8; ++e) EXPECT_DOUBLE_EQ(at_256.at({.epochs = e}), 0.1);
}

// Goyal et al., section 2.2: from 0.1 by a constant amount at each iteration to 0.1 k after five
// epochs; section 5.1: times 1/10 at epochs 30, 60 and 80.
TEST(LearningRate, GoyalsRatesRiseWithEachIterationAndFallAtMilestones) {
  const LearningRate goyal =
      rate("step", {{"warmup_epochs", std::int64_t(5)}}, imagenet_batch(8192));
  double last = goyal.at({.epochs = 0, .samples = 0, .of = imagenet});
  EXPECT_DOUBLE_EQ(last, 0.1);
  const double increment = (3.2 - 0.1) * 8192 / (5.0 * imagenet);
  for (std::int64_t samples = 8192; samples < imagenet; samples += 8192) {
    const double now = goyal.at({.epochs = 0, .samples = samples, .of = imagenet});
    ASSERT_NEAR(now - last, increment, 1e-12);
    last = now;
  }
  EXPECT_DOUBLE_EQ(goyal.at({.epochs = 5}), 3.2);
  EXPECT_DOUBLE_EQ(goyal.at({.epochs = 29, .samples = imagenet - 1, .of = imagenet}), 3.2);
  EXPECT_DOUBLE_EQ(goyal.at({.epochs = 30}), 0.32);
  EXPECT_DOUBLE_EQ(goyal.at({.epochs = 60}), 0.032);
  EXPECT_DOUBLE_EQ(goyal.at({.epochs = 89}), 0.0032);
}

TEST(LearningRate, WarmUpBelongsToEachSchedule) {
  for (const NamedSchedule& row : schedules()) {
    const LearningRate warm = rate(
        row.name, {{"warmup_epochs", std::int64_t(2)}},
        {.learning_rate = 0.5, .reference_batch_size = 8, .global_batch_size = 32, .epochs = 10});
    EXPECT_DOUBLE_EQ(warm.at(epoch(0)), 0.5) << row.name;
    EXPECT_DOUBLE_EQ(warm.at(epoch(1)), 1.25) << row.name;
    EXPECT_DOUBLE_EQ(warm.at(epoch(1.5)), 1.625) << row.name;
  }
}

TEST(LearningRate, CosineIsHalfAWaveFromWarmUpToTheEnd) {
  const LearningRate cosine = unscaled("cosine", {{"warmup_epochs", std::int64_t(10)}}, 50);
  EXPECT_DOUBLE_EQ(cosine.at(epoch(10)), 1);
  EXPECT_NEAR(cosine.at(epoch(20)), (2 + std::sqrt(2)) / 4, 1e-12);
  EXPECT_NEAR(cosine.at(epoch(30)), 0.5, 1e-12);
  EXPECT_NEAR(cosine.at(epoch(50)), 0, 1e-12);
  for (double e = 10; e < 50; e += 0.5) {
    EXPECT_GT(cosine.at(epoch(e)), cosine.at(epoch(e + 0.5)));
    EXPECT_NEAR(cosine.at(epoch(e)) + cosine.at(epoch(60 - e)), 1, 1e-12);  // odd about the middle
  }
}

// The rates were read off torch 1.13's ReduceLROnPlateau(factor=0.5, patience=2), fed these losses.
TEST(LearningRate, PlateauDoesAsPyTorchs) {
  const std::pair<double, double> loss_and_rate[] = {
      {2.3, 1},         {2.0, 1},         {1.9, 1},         {1.9, 1},         {1.8999, 1},
      {1.8999, 0.5},    {1.89979, 0.5},   {1.95, 0.5},      {1.94, 0.5},      {1.93, 0.25},
      {1.92, 0.25},     {1.5, 0.25},      {1.5, 0.25},      {1.5, 0.25},      {1.5, 0.125},
      {1.49986, 0.125}, {1.49985, 0.125}, {1.49984, 0.125}, {1.49983, 0.125}, {1.6, 0.125},
      {1.0, 0.125}};
  LearningRate plateau = unscaled("plateau", {{"patience", std::int64_t(2)}});
  std::int64_t e = 0;
  for (const auto& [loss, expected] : loss_and_rate) {
    plateau.epoch_ended(e++, loss);
    EXPECT_DOUBLE_EQ(plateau.at({.epochs = e}), expected) << "after epoch " << e;
  }
}

TEST(LearningRate, PlateauLooksAtNoLossOfWarmUp) {
  LearningRate plateau =
      unscaled("plateau", {{"patience", std::int64_t(0)}, {"warmup_epochs", std::int64_t(3)}});
  for (std::int64_t e = 0; e < 3; ++e) plateau.epoch_ended(e, 1.0);
  plateau.epoch_ended(3, 5.0);  // the first it sees, so the best so far
  EXPECT_DOUBLE_EQ(plateau.at({.epochs = 4}), 1);
  plateau.epoch_ended(4, 5.0);
  EXPECT_DOUBLE_EQ(plateau.at({.epochs = 5}), 0.5);
}

TEST(LearningRate, GoesOnFromACheckpointAsIfNothingHadBeen) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    base::Stream random{seed};
    LearningRate through = unscaled("plateau", {{"patience", std::int64_t(1)}});
    LearningRate resumed = unscaled("plateau", {{"patience", std::int64_t(1)}});
    const std::int64_t cut = std::int64_t(random.below(20));
    for (std::int64_t e = 0; e < 30; ++e) {
      const double loss = random.uniform();
      through.epoch_ended(e, loss);
      resumed.epoch_ended(e, loss);
      if (e == cut) {
        base::Archive archive;
        resumed.save(archive);
        resumed = unscaled("plateau", {{"patience", std::int64_t(1)}});
        resumed.load(archive);
      }
      ASSERT_EQ(through.at({.epochs = e + 1}), resumed.at({.epochs = e + 1}));
    }
  }
}

TEST(LearningRate, RefusesTheCheckpointOfAnotherSchedule) {
  base::Archive archive;
  unscaled("plateau", {}).save(archive);
  LearningRate step = unscaled("step", {});
  try {
    step.load(archive);
    FAIL() << "loaded";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("plateau"), HasSubstr("step")));
  }
}

// Smith 2017, figure 2: corners every stepsize.
TEST(LearningRate, CyclicalGoesUpAndDown) {
  const LearningRate triangular =
      unscaled("cyclical", {{"lowest", 0.25}, {"half_cycle_epochs", 2.0}});
  for (double cycle : {0.0, 4.0, 8.0}) {
    EXPECT_NEAR(triangular.at(epoch(cycle)), 0.25, 1e-12);
    EXPECT_NEAR(triangular.at(epoch(cycle + 1)), 0.625, 1e-12);
    EXPECT_NEAR(triangular.at(epoch(cycle + 2)), 1, 1e-12);
    EXPECT_NEAR(triangular.at(epoch(cycle + 3)), 0.625, 1e-12);
  }
  const LearningRate halving = unscaled(
      "cyclical",
      {{"lowest", 0.0}, {"half_cycle_epochs", 0.5}, {"shape", std::string("triangular2")}});
  for (int cycle = 0; cycle < 6; ++cycle) {
    EXPECT_NEAR(halving.at(epoch(cycle)), 0, 1e-12);
    EXPECT_NEAR(halving.at(epoch(cycle + 0.5)), std::pow(0.5, cycle), 1e-12);
    EXPECT_NEAR(halving.at(epoch(cycle + 0.75)), std::pow(0.5, cycle + 1), 1e-12);
  }
}

// Smith et al. 2018: what counts is rate / batch, so both ways must agree in it at every epoch.
TEST(LearningRate, GrowingTheBatchLowersTheNoiseAsLoweringTheRateDoes) {
  const std::vector<std::int64_t> milestones = {3, 5, 6};
  const LearningRate lowered = unscaled("step", {{"milestones", milestones}, {"factor", 0.25}});
  for (std::int64_t largest : {1, 3, 4, 15, 16, 63, 64, 1000}) {
    const LearningRate grown = unscaled(
        "growing_batch",
        {{"milestones", milestones}, {"growth", std::int64_t(4)}, {"largest_factor", largest}});
    for (std::int64_t e = 0; e < 10; ++e) {
      const std::int64_t times = grown.global_batch_size(e) / 64;
      EXPECT_LE(times, largest);
      EXPECT_NEAR(grown.at({.epochs = e}) / double(times), lowered.at({.epochs = e}), 1e-12);
    }
    EXPECT_EQ(grown.global_batch_size(9) == 64 * 64, largest >= 64);
  }
}

TEST(LearningRate, OtherSchedulesKeepTheBatch) {
  for (const NamedSchedule& row : schedules()) {
    if (row.name == "growing_batch") continue;
    EXPECT_EQ(unscaled(row.name, {}).global_batch_size(99), 64) << row.name;
  }
}

TEST(Schedules, AreKnownByNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const NamedSchedule& row : schedules()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(&schedule(row.name), &row);
    EXPECT_FALSE(row.summary.empty());
    for (const base::Option& option : row.options) EXPECT_FALSE(option.help.empty()) << option.name;
  }
  try {
    schedule("plataeu");
    FAIL() << "found";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'plateau'"));
  }
}

TEST(Schedules, MilestonesMustRise) {
  using Wholes = std::vector<std::int64_t>;
  for (const Wholes& wrong : {Wholes{30, 30}, Wholes{60, 30}, Wholes{0, 30}}) {
    try {
      unscaled("step", {{"milestones", wrong}});
      FAIL() << base::written(wrong);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_THAT(error.what(), HasSubstr("milestones = [" + std::to_string(wrong[0])));
    }
  }
  EXPECT_DOUBLE_EQ(unscaled("step", {{"milestones", Wholes{}}}).at({.epochs = 50}), 1);
}

}  // namespace
}  // namespace parajoule::train
