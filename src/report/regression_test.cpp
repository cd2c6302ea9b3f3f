// Oracles: statsmodels 0.14 and scipy 1.17, on the values that stand here.

#include "report/regression.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

const std::vector<double> x = {1, 2, 4, 8, 16, 32}, y = {1.1, 1.9, 4.3, 7.7, 16.5, 31.0};

TEST(Regression, OfALineIsStatsmodels) {
  const auto found = fit(line_design(x), y);
  ASSERT_TRUE(found);
  const auto& [constant, slope] = std::tie(found->coefficients[0], found->coefficients[1]);
  EXPECT_NEAR(constant.estimate, 0.2159203980099504, 1e-13);
  EXPECT_NEAR(constant.standard_error, 0.2601152120736202, 1e-13);
  EXPECT_NEAR(constant.p, 0.45315471976579463, 1e-12);
  EXPECT_NEAR(slope.estimate, 0.9714996446339732, 1e-13);
  EXPECT_NEAR(slope.p, 5.9452357106259737e-07, 1e-17);
  EXPECT_NEAR(slope.estimate - slope.half_width, 0.9236185421066813, 1e-12);
  EXPECT_EQ(found->degrees, 4);
}

TEST(Regression, PredictsALineAndOneMoreRun) {
  const auto found = fit(line_design(x), y);
  const std::vector<double> at = {1, 20};
  EXPECT_NEAR(found->at(at), 19.645913290689414, 1e-12);
  EXPECT_NEAR(found->at(at) + half_width_of_line(*found, at), 20.335633883168736, 1e-11);
  EXPECT_NEAR(found->at(at) + half_width_of_prediction(*found, at), 21.091097909026345, 1e-11);
}

TEST(Regression, WithWeightsIsStatsmodels) {
  const std::vector<double> weights = {4, 1, 9, 2, 0.5, 0.25};
  const auto found = fit(line_design(x), y, weights);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->coefficients[0].estimate, 0.2534183492738222, 1e-13);
  EXPECT_NEAR(found->coefficients[1].standard_error, 0.02527958407025, 1e-13);
  EXPECT_NEAR(found->r_squared, 0.997318601171661, 1e-13);
  EXPECT_NEAR(found->residuals[4], 0.6454481048529956, 1e-12);
  EXPECT_NEAR(found->residual_deviation, 0.46412285528329195, 1e-13);
}

TEST(Regression, HasNoAnswerWithoutOne) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(fit({}, {}));
  EXPECT_FALSE(fit(line_design(std::vector{1.0, 2.0}), std::vector{1.0, 2.0}));  // exact, no degree
  EXPECT_FALSE(fit(line_design(std::vector{3.0, 3.0, 3.0}), std::vector{1.0, 2.0, 3.0}));
  EXPECT_FALSE(fit(line_design(std::vector{1.0, nan, 3.0}), std::vector{1.0, 2.0, 3.0}));
  EXPECT_FALSE(fit(line_design(std::vector{1.0, 2.0, 3.0}), std::vector{1.0, nan, 3.0}));
  EXPECT_FALSE(fit(line_design(x), y, std::vector<double>{1, 1, 0, 1, 1, 1}));
}

TEST(Regression, TellsWhichRegressorsTheOthersGive) {
  Design rows;
  const double b[] = {2, 1, 4, 3, 6, 5, 8, 7}, c[] = {5, 3, 9, 1, 2, 8, 8, 1};
  for (int i = 0; i < 8; ++i) rows.push_back({1, double(i + 1), b[i], c[i]});
  const auto found = variance_inflation(rows);
  EXPECT_EQ(found[0], 1);
  EXPECT_NEAR(found[1], 6.714164334266294, 1e-11);
  EXPECT_NEAR(found[2], 6.852708916433425, 1e-11);
  EXPECT_NEAR(found[3], 1.245501799280288, 1e-12);
  for (auto& row : rows) row.push_back(row[1] / 256);  // samples over one batch size: passes
  EXPECT_TRUE(std::isinf(variance_inflation(rows)[4]));
}

TEST(Regression, AsksWhetherOneLineSuffices) {
  const std::vector<std::vector<double>> xs = {{1, 2, 3, 4}, {1, 2, 3, 4}, {2, 4, 6}};
  const std::vector<std::vector<double>> ys = {
      {1.1, 1.9, 3.2, 3.9}, {2.0, 2.7, 4.1, 4.6}, {2.2, 4.1, 5.8}};
  const auto found = one_line_suffices(xs, ys);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->f, 9.163322632423762, 1e-10);
  EXPECT_NEAR(found->p, 0.015974917547914858, 1e-12);
  EXPECT_EQ(found->more, 4);
  EXPECT_EQ(found->degrees, 5);
  EXPECT_FALSE(one_line_suffices(std::span(xs).first(1), std::span(ys).first(1)));
}

}  // namespace
}  // namespace parajoule::report
