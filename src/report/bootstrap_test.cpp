// Oracle: scipy 1.17's bootstrap(method="BCa") with 400,000 resamples.

#include "report/bootstrap.h"

#include <vector>

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

const std::vector<double> skewed = {0.8, 1.1, 1.2, 1.9, 2.3, 3.9, 5.5, 9.1};

double mean(std::span<const double> values) { return sample_of(values)->mean; }

TEST(Bootstrap, IsBiasCorrectedAndAccelerated) {
  const auto found = bootstrap(skewed, mean, 1, 20000);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->low, 1.8, 0.04);
  EXPECT_NEAR(found->high, 5.775, 0.1);
}

TEST(Bootstrap, RepeatsItselfAndNeedsFiveValues) {
  EXPECT_EQ(bootstrap(skewed, mean, 7)->low, bootstrap(skewed, mean, 7)->low);
  EXPECT_NE(bootstrap(skewed, mean, 7)->low, bootstrap(skewed, mean, 8)->low);
  EXPECT_FALSE(bootstrap(std::span(skewed).first(4), mean, 1));
}

TEST(Normality, IsShapirosAndFrancias) {  // the formulas, computed apart with scipy's quantiles
  EXPECT_NEAR(*normality(skewed), 0.8320612169809253, 1e-12);
  EXPECT_NEAR(p_of_normality(0.8320612169809253, 8), 0.05838224074354558, 1e-9);
  EXPECT_FALSE(normality(std::vector<double>{1, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace parajoule::report
