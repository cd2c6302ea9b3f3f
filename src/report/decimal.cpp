#include "report/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

namespace parajoule::report {
namespace {

/// The exponent of the last place that may be shown.
int place_of(double half_width) { return int(std::ceil(std::log10(half_width) - 1e-9)); }

/// That of five significant digits.
int fine_place(double value) {
  return value == 0 ? 0 : int(std::floor(std::log10(std::fabs(value)))) - 4;
}

/// The coarsest place that keeps the shown number within what the rounding leaves open.
int place_of(double value, double half_width) {
  const int place = place_of(half_width);
  const double unit = std::pow(10.0, place);
  return std::fabs(std::round(value / unit) * unit - value) > half_width ? place - 1 : place;
}

std::string to_place(double value, int place) {
  const double unit = std::pow(10.0, place);
  const double rounded = place > 0 ? std::round(value / unit) * unit : value;
  std::string text = fmt::format("{:.{}f}", rounded, std::clamp(-place, 0, 17));
  if (text.find_first_not_of("-0.") == std::string::npos && text.starts_with('-')) text.erase(0, 1);
  return text;
}

}  // namespace

std::optional<Decimal> decimal_of(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  const std::size_t exponent_at = std::min(text.find_first_of("eE"), text.size());
  int exponent = 0;
  if (exponent_at < text.size()) {
    std::string_view tail = text.substr(exponent_at + 1);
    if (tail.starts_with('+')) tail.remove_prefix(1);
    std::from_chars(tail.data(), tail.data() + tail.size(), exponent);
  }
  const std::size_t point = text.substr(0, exponent_at).find('.');
  const int behind = point == std::string_view::npos ? 0 : int(exponent_at - point - 1);
  return Decimal{value, 0.5 * std::pow(10.0, exponent - behind)};
}

std::string supported(double value, double half_width) {
  if (!std::isfinite(value)) return "not a number";
  return to_place(value, half_width > 0 ? place_of(value, half_width) : fine_place(value));
}

std::string supported(double value, double half_width, double spread) {
  if (!std::isfinite(spread) || spread <= 0) return supported(value, half_width);
  int place = int(std::floor(std::log10(spread))) - 1;
  if (half_width > 0) place = std::max(place, place_of(value, half_width));
  place = std::max(place, fine_place(value) - 2);
  // A spread is never shown smaller than it is, least of all as zero.
  const double unit = std::pow(10.0, place);
  const double up = std::ceil(spread / unit - 1e-9) * unit;
  return fmt::format("{} ± {}", to_place(value, place), to_place(up, place));
}

}  // namespace parajoule::report
