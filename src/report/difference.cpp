#include "report/difference.h"

#include <cmath>

#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace parajoule::report {
namespace {

constexpr double wanted_power = 0.8;

}  // namespace

double power(double standard_errors, double degrees) {
  const double reach = student(degrees);
  if (standard_errors == 0) return 1 - usual_confidence;
  const boost::math::non_central_t distribution(degrees, standard_errors);
  return boost::math::cdf(boost::math::complement(distribution, reach)) +
         boost::math::cdf(distribution, -reach);
}

std::optional<Difference> difference(const Sample& first, const Sample& second) {
  if (!first.deviation || !second.deviation || first.count < 2 || second.count < 2) return {};
  const double a = *first.deviation * *first.deviation / first.count;
  const double b = *second.deviation * *second.deviation / second.count;
  if (!(a + b > 0)) return {};
  const double error = std::sqrt(a + b);
  const double degrees =
      (a + b) * (a + b) / (a * a / (first.count - 1) + b * b / (second.count - 1));
  const boost::math::students_t distribution(degrees);
  const double by = second.mean - first.mean;
  return Difference{
      .difference = by,
      .half_width = student(degrees) * error,
      .degrees = degrees,
      .p = 2 * boost::math::cdf(boost::math::complement(distribution, std::fabs(by) / error)),
      .standard_error = error};
}

double detectable(const Difference& found) {
  double low = 0, high = 1;
  while (power(high, found.degrees) < wanted_power) high *= 2;
  for (int round = 0; round < 40; ++round) {
    const double middle = (low + high) / 2;
    (power(middle, found.degrees) < wanted_power ? low : high) = middle;
  }
  return high * found.standard_error;
}

}  // namespace parajoule::report
