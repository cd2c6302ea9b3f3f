#pragma once

// Two sets of repeats: is there a difference, and would one have been found?

#include <optional>

#include "report/moments.h"

namespace parajoule::report {

/// Welch's test (1947), two-sided at 5 %: deviations need not be equal.
struct Difference {
  double difference;  ///< second minus first
  double half_width;  ///< of its 95 % interval
  double degrees;     ///< Welch and Satterthwaite's
  double p;
  double standard_error;

  /// Whether the interval leaves zero out.
  bool distinguishable() const { return p < 0.05; }
};

/// None unless both have at least two repeats and one of them a deviation.
std::optional<Difference> difference(const Sample& first, const Sample& second);

/// The smallest true difference that four of five such studies would find.
double detectable(const Difference& found);

/// How often the two-sided test at 5 % finds a true difference of so many standard errors: by the
/// noncentral distribution of Student.
double power(double standard_errors, double degrees);

}  // namespace parajoule::report
