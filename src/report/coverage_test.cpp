// Made-up studies, 2,000 of each kind: an interval of 95 % holds the truth in 93 to 97 of 100.

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"
#include "report/bootstrap.h"
#include "report/difference.h"
#include "report/moments.h"
#include "report/regression.h"

namespace parajoule::report {
namespace {

constexpr int studies = 2000;

double share(std::uint64_t seed, const std::function<bool(base::Stream&)>& covered) {
  int hits = 0;
  for (int study = 0; study < studies; ++study) {
    base::Stream chance{seed, std::uint64_t(study)};
    hits += covered(chance);
  }
  return double(hits) / studies;
}

void expect_covers(double found) {
  EXPECT_GE(found, 0.93);
  EXPECT_LE(found, 0.97);
}

std::vector<double> repeats(base::Stream& chance, int count, double mean, double deviation) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) values.push_back(mean + deviation * chance.normal());
  return values;
}

TEST(Coverage, OfAMeanOfFiveRepeats) {
  expect_covers(share(1, [](base::Stream& chance) {
    const auto sample = sample_of(repeats(chance, 5, 30, 0.1));
    return std::fabs(sample->mean - 30) < *half_width(*sample);
  }));
}

TEST(Coverage, OfADifferenceOfUnequalDeviations) {
  expect_covers(share(2, [](base::Stream& chance) {
    const auto found = difference(*sample_of(repeats(chance, 5, 10, 0.1)),
                                  *sample_of(repeats(chance, 4, 10.3, 0.4)));
    return std::fabs(found->difference - 0.3) < found->half_width;
  }));
}

/// Energy over device hours with one noise for all: nine configurations as the study has.
struct Line {
  std::vector<double> x = {0.4, 0.8, 1.7, 3.5, 7, 14, 28, 58, 113};
  std::vector<double> y;
  explicit Line(base::Stream& chance) {
    for (const double hours : x) y.push_back(0.05 + 0.266 * hours + 0.1 * chance.normal());
  }
};

TEST(Coverage, OfALinesSlopeAndOfTheLine) {
  double line = 0;
  const double slope = share(3, [&](base::Stream& chance) {
    const Line made(chance);
    const auto found = fit(line_design(made.x), made.y);
    const std::vector<double> at = {1, 40};
    line += std::fabs(found->at(at) - (0.05 + 0.266 * 40)) < half_width_of_line(*found, at);
    return std::fabs(found->coefficients[1].estimate - 0.266) < found->coefficients[1].half_width;
  });
  expect_covers(slope);
  expect_covers(line / studies);
}

TEST(Coverage, OfOneMoreRun) {
  expect_covers(share(4, [](base::Stream& chance) {
    const Line made(chance);
    const auto found = fit(line_design(made.x), made.y);
    const std::vector<double> at = {1, 200};
    const double next = 0.05 + 0.266 * 200 + 0.1 * chance.normal();
    return std::fabs(found->at(at) - next) < half_width_of_prediction(*found, at);
  }));
}

TEST(Coverage, OfAWeightedSlope) {
  expect_covers(share(5, [](base::Stream& chance) {
    const std::vector<double> x = {1, 2, 4, 8, 16, 32};
    std::vector<double> y, weights;
    for (const double hours : x) {
      const double deviation = 0.02 * hours;
      y.push_back(0.3 * hours + deviation * chance.normal());
      weights.push_back(1 / deviation / deviation);
    }
    const auto found = fit(line_design(x), y, weights);
    return std::fabs(found->coefficients[1].estimate - 0.3) < found->coefficients[1].half_width;
  }));
}

TEST(Coverage, OfSeveralRegressors) {
  expect_covers(share(6, [](base::Stream& chance) {
    Design rows;
    std::vector<double> y;
    for (int i = 0; i < 18; ++i) {
      rows.push_back({1, chance.uniform(), chance.uniform(), double(i % 3)});
      y.push_back(1 + 2 * rows.back()[1] - rows.back()[2] + 0.3 * chance.normal());
    }
    const auto found = fit(rows, y);
    return std::fabs(found->coefficients[2].estimate + 1) < found->coefficients[2].half_width;
  }));
}

TEST(Coverage, OneLineIsRefusedInFiveOfAHundred) {
  const double refused = share(7, [](base::Stream& chance) {
    const Line a(chance), b(chance);
    const std::vector<std::vector<double>> x = {a.x, b.x}, y = {a.y, b.y};
    return one_line_suffices(x, y)->p < 0.05;
  });
  expect_covers(1 - refused);
}

TEST(Coverage, OfResampledMeansOfSkewedRepeats) {
  expect_covers(share(8, [](base::Stream& chance) {
    std::vector<double> values;
    for (int i = 0; i < 40; ++i) values.push_back(std::exp(0.5 * chance.normal()));
    const auto found = bootstrap(
        values, [](std::span<const double> drawn) { return sample_of(drawn)->mean; }, 9, 400);
    const double truth = std::exp(0.125);
    return found->low < truth && truth < found->high;
  }));
}

TEST(Coverage, NormalRepeatsAreTakenForNormal) {
  const double refused = share(9, [](base::Stream& chance) {
    const auto values = repeats(chance, 12, 1, 1);
    return p_of_normality(*normality(values), 12) < 0.05;
  });
  expect_covers(1 - refused);
}

}  // namespace
}  // namespace parajoule::report
