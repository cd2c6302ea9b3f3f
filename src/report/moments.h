#pragma once

// Repeats of one number: mean, deviation, and how sure the mean is.

#include <optional>
#include <span>

namespace parajoule::report {

inline constexpr double usual_confidence = 0.95;

struct Sample {
  double mean = 0;
  std::optional<double> deviation = {};  ///< the sample's, over count - 1; none of a single run
  int count = 0;
};

/// Two passes over the values; none of an empty set.
std::optional<Sample> sample_of(std::span<const double> values);

/// The sample's deviation out of the population's (over count instead of count - 1), which some
/// publish. `count` is at least 2.
double sample_from_population(double deviation, int count);

/// And back: the deviation under its other name.
double population_from_sample(double deviation, int count);

/// The standard error of a deviation of `count` normal values, relative to it: sqrt(1 - c^2) / c
/// with c = sqrt(2 / (n - 1)) Gamma(n / 2) / Gamma((n - 1) / 2).
double relative_error_of_deviation(int count);

/// How far Student's distribution reaches to either side with this probability between.
double student(double degrees, double confidence = usual_confidence);

/// Half of Student's interval of a mean; none of a single run.
std::optional<double> half_width(const Sample& sample, double confidence = usual_confidence);

}  // namespace parajoule::report
