// Oracles: scipy 1.17's ttest_ind (equal_var=False), its interval, and its noncentral t.

#include "report/difference.h"

#include <vector>

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

const std::vector<double> a = {26.1, 25.4, 27.0, 26.2, 25.9}, b = {25.0, 25.3, 24.1, 26.0};

TEST(Difference, IsWelchsTest) {
  const auto found = difference(*sample_of(a), *sample_of(b));
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->difference, -1.02, 1e-12);
  EXPECT_NEAR(found->degrees, 5.4091900465404255, 1e-10);
  EXPECT_NEAR(found->p, 0.07874792272988203, 1e-12);
  EXPECT_NEAR(found->difference + found->half_width, 0.16519828492119593, 1e-10);
  EXPECT_FALSE(found->distinguishable());
  EXPECT_NEAR(detectable(*found), 1.6248841876930797, 1e-8);
}

TEST(Difference, HasThePowerOfTheNoncentralDistribution) {
  EXPECT_NEAR(power(3, 8), 0.7480170922294767, 1e-9);
  EXPECT_NEAR(power(1.5, 4.5), 0.22327077861693234, 1e-9);
  EXPECT_NEAR(power(0.5, 30), 0.07726075700020361, 1e-9);
  EXPECT_NEAR(power(0, 7), 0.05, 1e-12);
}

TEST(Difference, NeedsRepeatsOnBothSides) {
  EXPECT_FALSE(difference(*sample_of(std::vector{1.0}), *sample_of(a)));
  EXPECT_FALSE(difference(*sample_of(a), *sample_of(std::vector{1.0})));
  EXPECT_FALSE(difference(*sample_of(std::vector{1.0, 1.0}), *sample_of(std::vector{2.0, 2.0})));
}

}  // namespace
}  // namespace parajoule::report
