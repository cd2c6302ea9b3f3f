#pragma once

// Repeated measurements in words: the least, the median, the most.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace parajoule::bench {

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 != 0 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

/// Of each repeat: what `above` took times what `below` took. Neighbours in time have the same
/// disturbances, so this spreads less than what it is made of.
inline std::vector<double> ratios(const std::vector<double>& above,
                                  const std::vector<double>& below) {
  std::vector<double> result;
  for (std::size_t i = 0; i < above.size(); ++i) result.push_back(above[i] / below[i]);
  return result;
}

/// "12.3 (11.9 ... 20.1)": median, least and most, each times `factor`.
inline std::string spread(const std::vector<double>& values, double factor = 1) {
  return fmt::format("{:.2f} ({:.2f} ... {:.2f})", factor * median(values),
                     factor * *std::ranges::min_element(values),
                     factor * *std::ranges::max_element(values));
}

}  // namespace parajoule::bench
