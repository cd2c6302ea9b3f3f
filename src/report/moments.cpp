#include "report/moments.h"

#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "base/error.h"

namespace parajoule::report {

std::optional<Sample> sample_of(std::span<const double> values) {
  if (values.empty()) return {};
  Sample sample{.mean = 0, .deviation = {}, .count = int(values.size())};
  long double sum = 0;
  for (const double value : values) sum += value;
  sample.mean = double(sum / values.size());
  if (values.size() < 2) return sample;
  double squares = 0, rest = 0;
  for (const double value : values) {
    squares += (value - sample.mean) * (value - sample.mean);
    rest += value - sample.mean;
  }
  squares -= rest * rest / double(values.size());  // what rounding of the mean has added
  sample.deviation = std::sqrt(squares / double(values.size() - 1));
  return sample;
}

double sample_from_population(double deviation, int count) {
  base::ensure(count >= 2, "a deviation has at least two values");
  return deviation * std::sqrt(double(count) / (count - 1));
}

double population_from_sample(double deviation, int count) {
  base::ensure(count >= 2, "a deviation has at least two values");
  return deviation * std::sqrt(double(count - 1) / count);
}

double relative_error_of_deviation(int count) {
  base::ensure(count >= 2, "a deviation has at least two values");
  const double n = count;
  const double inverse = boost::math::tgamma_delta_ratio((n - 1) / 2, 0.5);  // G(a) / G(a + 1/2)
  const double c = std::sqrt(2 / (n - 1)) / inverse;
  return std::sqrt(1 - c * c) / c;
}

double student(double degrees, double confidence) {
  const boost::math::students_t distribution(degrees);
  return boost::math::quantile(boost::math::complement(distribution, (1 - confidence) / 2));
}

std::optional<double> half_width(const Sample& sample, double confidence) {
  if (!sample.deviation || sample.count < 2) return {};
  return student(sample.count - 1, confidence) * *sample.deviation / std::sqrt(sample.count);
}

}  // namespace parajoule::report
