#include "report/moments.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

TEST(Moments, AreThoseOfTheDefinition) {
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};  // squares about 5 sum to 32
  const auto sample = sample_of(values);
  EXPECT_DOUBLE_EQ(sample->mean, 5);
  EXPECT_DOUBLE_EQ(*sample->deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(sample->count, 8);
}

TEST(Moments, HoldWhereTheMeanIsLargeAgainstTheDeviation) {
  // NumAcc4 of NIST's univariate sets: 10000000.2, then .1 and .3 in turn, 1001 values.
  std::vector<double> values = {10000000.2};
  for (int i = 0; i < 500; ++i) {
    values.push_back(10000000.1);
    values.push_back(10000000.3);
  }
  EXPECT_NEAR(sample_of(values)->mean, 10000000.2, 1e-8);
  EXPECT_NEAR(*sample_of(values)->deviation, 0.1, 1e-9);
}

TEST(Moments, OfOneRunHaveNoDeviationAndNoInterval) {
  const std::vector<double> one = {3};
  EXPECT_FALSE(sample_of(one)->deviation);
  EXPECT_FALSE(half_width(*sample_of(one)));
  EXPECT_FALSE(sample_of({}));
}

TEST(Moments, TurnAPopulationsDeviationIntoTheSamples) {
  EXPECT_DOUBLE_EQ(sample_from_population(2, 5), 2 * std::sqrt(5.0 / 4));  // 8 values above: 2
  EXPECT_DOUBLE_EQ(population_from_sample(sample_from_population(0.7, 3), 3), 0.7);
}

TEST(Moments, StudentsIntervalIsThatOfTheTables) {  // scipy 1.17
  EXPECT_NEAR(student(4), 2.7764451051977934, 1e-12);
  EXPECT_NEAR(student(1), 12.706204736174694, 1e-10);
  EXPECT_NEAR(student(4, 0.99), 4.604094871349992, 1e-11);
  EXPECT_NEAR(*half_width({.mean = 1, .deviation = 0.3, .count = 5}),
              2.7764451051977934 * 0.3 / std::sqrt(5.0), 1e-12);
}

TEST(Moments, ADeviationOfFewRepeatsIsUnsure) {
  EXPECT_NEAR(relative_error_of_deviation(2), 0.7555106397628666, 1e-12);
  EXPECT_NEAR(relative_error_of_deviation(5), 0.3629992895434279, 1e-12);
}

}  // namespace
}  // namespace parajoule::report
