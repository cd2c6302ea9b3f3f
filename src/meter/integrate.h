#pragma once

// The arithmetic under `account`: energy of a counter and of a series of powers.

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/account.h"

namespace parajoule::meter {

struct Integral {
  std::optional<base::Joules> energy = {};
  std::optional<base::Watts> peak = {};
  base::Joules resolution = {};  ///< half width of a 95 % interval
  base::Seconds covered{0};
  std::optional<base::Seconds> found_period = {};  ///< of the sensor, seen in the readings
  std::vector<std::string> remarks = {};
};

/// End minus start. What its uncertainty is made of, as variances:
///   counter step r, at both ends                       r^2 / 6
///   update period u at mean power P, at both ends      (P u)^2 / 6
///   an end at the fraction f between readings h apart  (A h f (1 - f))^2 / 3
///   energy lost in a reset of length h                 (P h)^2 / 3
///   a standstill h up to the end, unlike any before    (P' h)^2 / 3, P' the power until then
/// u is the stated period, or a longer one that is found in the readings.
/// A is the range of the power seen; the third is that of a power which jumps by A once within h,
/// at any moment alike.
Integral integrate_counter(const Series& series, Span span);

/// Trapezoid rule on the line through the readings, as variances:
///   scatter of neighbours, P_i - P_i-1, h_i apart      sum of (h_i (P_i - P_i-1))^2 / 2
///   a stretch h that is bridged or held at an end      (A h)^2 / 12
/// Where the readings show that the number is renewed less often than it is read, h is that period.
/// Readings further apart than ten usual distances, and than 5 s, are not bridged.
Integral integrate_power(const Series& series, Span span);

/// The half width of a 95 % interval, of the normal distribution with this variance.
base::Joules half_width(double variance);

/// A number that its own uncertainty nearly swallows is said to be one.
void judge_shortness(Integral& integral);

/// No number, and why.
Integral without_number(const Series& series, Span span, std::string why);

}  // namespace parajoule::meter
