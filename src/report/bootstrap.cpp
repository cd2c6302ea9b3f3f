#include "report/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/normal.hpp>

#include "base/seed.h"

namespace parajoule::report {
namespace {

constexpr std::size_t fewest = 5;

double below(double z) { return boost::math::cdf(boost::math::normal(), z); }
double normal_quantile(double p) { return boost::math::quantile(boost::math::normal(), p); }

/// Efron's acceleration, from the statistic without each value in turn.
double acceleration(std::span<const double> values, const Statistic& statistic) {
  std::vector<double> without;
  for (std::size_t left_out = 0; left_out < values.size(); ++left_out) {
    std::vector<double> others(values.begin(), values.end());
    others.erase(others.begin() + std::ptrdiff_t(left_out));
    without.push_back(statistic(others));
  }
  const double mean = sample_of(without)->mean;
  double squares = 0, cubes = 0;
  for (const double value : without) {
    squares += (mean - value) * (mean - value);
    cubes += (mean - value) * (mean - value) * (mean - value);
  }
  return squares > 0 ? cubes / (6 * std::pow(squares, 1.5)) : 0;
}

}  // namespace

std::optional<Interval> bootstrap(std::span<const double> values, const Statistic& statistic,
                                  std::uint64_t seed, int resamples) {
  if (values.size() < fewest) return {};
  base::Stream stream{seed, values.size()};
  const double found = statistic(values);
  std::vector<double> drawn(values.size()), results;
  for (int round = 0; round < resamples; ++round) {
    for (double& value : drawn) value = values[stream.below(values.size())];
    results.push_back(statistic(drawn));
  }
  std::ranges::sort(results);
  const auto [from, to] = std::ranges::equal_range(results, found);
  const double lower = double(from - results.begin()), equal = double(to - from);
  const double share =
      std::clamp((lower + equal / 2) / resamples, 0.5 / resamples, 1 - 0.5 / resamples);
  const double bias = normal_quantile(share), skew = acceleration(values, statistic);
  const auto end = [&](double probability) {
    const double z = bias + normal_quantile(probability);
    const double place = below(bias + z / (1 - skew * z)) * (resamples - 1);
    const auto at = std::size_t(std::clamp(place, 0.0, double(resamples - 1)));
    const std::size_t next = std::min(at + 1, results.size() - 1);
    return results[at] + (place - double(at)) * (results[next] - results[at]);
  };
  return Interval{end((1 - usual_confidence) / 2), end((1 + usual_confidence) / 2)};
}

std::optional<double> normality(std::span<const double> values) {
  if (values.size() < fewest) return {};
  std::vector<double> ordered(values.begin(), values.end());
  std::ranges::sort(ordered);
  if (ordered.front() == ordered.back()) return {};
  const double n = double(ordered.size()), mean = sample_of(ordered)->mean;
  double both = 0, scores = 0, squares = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    const double score = normal_quantile((double(i) + 1 - 0.375) / (n + 0.25));
    both += score * (ordered[i] - mean);
    scores += score * score;
    squares += (ordered[i] - mean) * (ordered[i] - mean);
  }
  return both * both / scores / squares;
}

double p_of_normality(double w, int count) {
  const double u = std::log(double(count)), v = std::log(u);
  const double mean = -1.2725 + 1.0521 * (v - u);
  const double deviation = 1.0308 - 0.26758 * (v + 2 / u);
  return 1 - below((std::log(1 - w) - mean) / deviation);
}

}  // namespace parajoule::report
