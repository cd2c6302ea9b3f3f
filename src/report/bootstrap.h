#pragma once

// Intervals where repeats are not normal: resampling (Efron, 1979), bias-corrected and accelerated
// (Efron, "Better bootstrap confidence intervals", JASA 82, 1987).

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "report/moments.h"

namespace parajoule::report {

struct Interval {
  double low;
  double high;
};

using Statistic = std::function<double(std::span<const double>)>;

/// 95 % of what the statistic could be. The same values and seed give the same interval. None of
/// fewer than five values, where resampling says nothing.
std::optional<Interval> bootstrap(std::span<const double> values, const Statistic& statistic,
                                  std::uint64_t seed, int resamples = 4000);

/// Shapiro and Francia's W' (1972): the squared correlation of the ordered values with the normal
/// scores at (i - 3/8) / (n + 1/4). Near 1 for normal values. None of fewer than five.
std::optional<double> normality(std::span<const double> values);

/// The probability of so low a W' of normal values: Royston's approximation (1993), for 5 to 5000.
double p_of_normality(double w, int count);

}  // namespace parajoule::report
