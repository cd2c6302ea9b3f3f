#include "cli/numbers.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace parajoule::cli {
namespace {

/// Of a time that is shown in whole seconds.
struct Split {
  long hours;
  long minutes;
  long seconds;
};

Split split(base::Seconds time) {
  const long whole = std::lround(std::clamp(time.count(), 0.0, 1e12));
  return {whole / 3600, whole / 60 % 60, whole % 60};
}

bool needs_exponent(double value) { return std::abs(value) < 1e-4 || std::abs(value) >= 1e15; }

/// So that four digits count; rounding may add one before the point (9.9996).
int digits_after_point(double value) {
  const int before = int(std::floor(std::log10(std::abs(value)))) + 1;
  return std::clamp(4 - before, 0, 8);
}

}  // namespace

std::string rounded(double value) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  if (needs_exponent(value)) return fmt::format("{:.3e}", value);
  return fmt::format("{:.{}f}", value, digits_after_point(value));
}

std::string rounded(double value, double uncertainty) {
  const bool plain = std::isfinite(value) && value != 0 && !needs_exponent(value);
  if (!plain || !std::isfinite(uncertainty))
    return fmt::format("{} ± {}", rounded(value), rounded(uncertainty));
  const int after = digits_after_point(value);
  const double unit = std::pow(10.0, -after);
  // A little less than the unit is let pass, which is the rounding of the division.
  const double up = std::max(0.0, std::ceil(uncertainty / unit - 1e-9)) * unit;
  return fmt::format("{:.{}f} ± {:.{}f}", value, after, up, after);
}

std::string spoken(base::Seconds time) {
  if (time > base::Seconds(0) && time < base::Seconds(0.05))
    return fmt::format("{:.2g} ms", 1e3 * time.count());
  if (time < base::Seconds(59.95)) return fmt::format("{:.1f} s", time.count());
  const auto [hours, minutes, seconds] = split(time);
  if (hours == 0) return fmt::format("{} min {:02} s", minutes, seconds);
  return fmt::format("{} h {:02} min {:02} s", hours, minutes, seconds);
}

std::string clock(base::Seconds time) {
  const auto [hours, minutes, seconds] = split(time);
  if (hours == 0) return fmt::format("{}:{:02}", minutes, seconds);
  return fmt::format("{}:{:02}:{:02}", hours, minutes, seconds);
}

std::string percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.2f} %", 100 * fraction) : "not a number";
}

std::string metric_name(std::string_view metric) {
  if (metric == "top1_error") return "top-1 error";
  if (metric == "top5_error") return "top-5 error";
  return std::string(metric);
}

std::string watt_hours(base::Joules energy) { return rounded(energy.value / 3600); }

std::string spoken_utc(std::string_view moment) {
  constexpr std::string_view form = "2025-11-30T10:11:12";
  if (moment.size() < form.size() || moment[10] != 'T') return std::string(moment);
  return fmt::format("{} {} UTC", moment.substr(0, 10), moment.substr(11, 8));
}

}  // namespace parajoule::cli
