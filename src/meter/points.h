#pragma once

// The values of a series as points on a line, for the arithmetic under `account`.

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/account.h"

namespace parajoule::meter {

struct Point {
  base::Seconds at;
  double value;
};

/// The values of a series without its gaps, each set `earlier` in time.
std::vector<Point> points_of(const Series& series, base::Seconds earlier);

/// The gaps of a span, a line for each cause: how often, and the first in words.
std::vector<std::string> gaps_told(const Series& series, Span span);

inline double squared(double x) { return x * x; }

/// Least and greatest of some numbers.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double width() const { return high - low; }
};

}  // namespace parajoule::meter
