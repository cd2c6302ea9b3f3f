// Regressions against NIST's certified values, to nine digits.

#include "report/strd.h"

#include <cmath>

#include <gtest/gtest.h>

#include "report/regression.h"

namespace parajoule::report {
namespace {

constexpr double nine_digits = 1e-9;

Design design_of(const strd::Set& set) {
  Design rows;
  const std::size_t width = set.x.size() / set.y.size();
  for (std::size_t i = 0; i < set.y.size(); ++i) {
    std::vector<Extended> row;
    if (set.constant) row.push_back(1);
    for (std::size_t j = 0; j < width; ++j) row.push_back(set.x[i * width + j]);
    for (int power = 2; power <= set.degree; ++power)
      row.push_back(std::pow(Extended(set.x[i]), power));
    rows.push_back(row);
  }
  return rows;
}

class Strd : public testing::TestWithParam<strd::Set> {};

TEST_P(Strd, IsMetToNineDigits) {
  const strd::Set& set = GetParam();
  const auto found = fit(design_of(set), set.y);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->coefficients.size(), set.estimates.size());
  const double scale = set.residual_deviation > 0 ? 0 : 1e-6;  // an exact fit has errors of zero
  for (std::size_t i = 0; i < set.estimates.size(); ++i) {
    const Coefficient& coefficient = found->coefficients[i];
    EXPECT_NEAR(coefficient.estimate, set.estimates[i], nine_digits * std::fabs(set.estimates[i]));
    EXPECT_NEAR(coefficient.standard_error, set.standard_errors[i],
                nine_digits * set.standard_errors[i] + scale);
  }
  EXPECT_NEAR(found->residual_deviation, set.residual_deviation,
              nine_digits * set.residual_deviation + scale);
  EXPECT_NEAR(found->r_squared, set.r_squared, nine_digits);
}

INSTANTIATE_TEST_SUITE_P(Nist, Strd,
                         testing::Values(strd::norris, strd::pontius, strd::no_intercept_1,
                                         strd::no_intercept_2, strd::filip, strd::longley,
                                         strd::wampler_1, strd::wampler_3),
                         [](const auto& set) { return std::string(set.param.name); });

}  // namespace
}  // namespace parajoule::report
