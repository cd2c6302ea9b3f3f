#include "nn/loss_scale.h"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::nn {
namespace {

constexpr LossScale::Options options = {
    .start = 8, .most = 32, .growth_steps = 3, .give_up_after = 4};

TEST(LossScale, DoublesAfterQuietStepsUpToTheMost) {
  LossScale scale(Precision::float16, options);
  std::vector<double> seen;
  for (int step = 0; step < 12; ++step) {
    EXPECT_EQ(scale.proceed(Overflow::none), LossScale::Step::take);
    seen.push_back(scale.scale());
  }
  EXPECT_EQ(seen, std::vector<double>({8, 8, 16, 16, 16, 32, 32, 32, 32, 32, 32, 32}));
}

TEST(LossScale, HalvesAndSkipsOnOverflowAndBeginsToCountAnew) {
  LossScale scale(Precision::float16, options);
  scale.proceed(Overflow::none);
  scale.proceed(Overflow::none);
  EXPECT_EQ(scale.proceed(Overflow::found), LossScale::Step::skip);
  EXPECT_EQ(scale.scale(), 4);
  scale.proceed(Overflow::none);
  scale.proceed(Overflow::none);
  EXPECT_EQ(scale.scale(), 4);
  scale.proceed(Overflow::none);
  EXPECT_EQ(scale.scale(), 8);
}

TEST(LossScale, GivesUpAfterHalvingsInARow) {
  LossScale scale(Precision::float16, options);
  for (int round = 0; round < 5; ++round) {  // never four in a row
    for (int i = 0; i < 3; ++i) scale.proceed(Overflow::found);
    scale.proceed(Overflow::none);
  }
  for (int i = 0; i < 3; ++i) scale.proceed(Overflow::found);
  try {
    scale.proceed(Overflow::found);
    FAIL() << "four halvings in a row were taken";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::not_a_number);
    EXPECT_THAT(error.what(), testing::HasSubstr("4 steps in a row"));
  }
}

TEST(LossScale, SeesWhatIsNotFinite) {
  const LossScale scale(Precision::float16, options);
  std::vector<float> gradients = {1, 2, 3};
  EXPECT_EQ(scale.check(base::Vector(std::span(gradients))), Overflow::none);
  gradients[1] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(scale.check(base::Vector(std::span(gradients))), Overflow::found);
  gradients[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(scale.check(base::Vector(std::span(gradients))), Overflow::found);
}

TEST(LossScale, LeavesAllOtherPrecisionsAlone) {
  LossScale scale(Precision::bfloat16);
  std::vector<float> gradients = {std::numeric_limits<float>::infinity()};
  EXPECT_EQ(scale.check(base::Vector(std::span(gradients))), Overflow::none);
  EXPECT_EQ(scale.proceed(Overflow::none), LossScale::Step::take);
  EXPECT_EQ(scale.scale(), 1);
}

TEST(LossScale, GoesOnWhereItWasStored) {
  LossScale first(Precision::float16, options), second(Precision::float16, options);
  first.proceed(Overflow::found);
  first.proceed(Overflow::none);
  first.proceed(Overflow::none);
  base::Archive archive;
  first.save(archive);
  second.load(archive);
  EXPECT_EQ(second.scale(), 4);
  second.proceed(Overflow::none);
  EXPECT_EQ(second.scale(), 8);
}

}  // namespace
}  // namespace parajoule::nn
