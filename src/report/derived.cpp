#include "report/derived.h"

#include <cmath>
#include <vector>

namespace parajoule::report {
namespace {

double power_of(double base, int exponent) { return exponent == 0 ? 1 : std::pow(base, exponent); }

/// Relative, of a product of powers of numbers that are independent.
std::optional<double> relative_deviation(const Point& point, Powers powers) {
  double squares = 0;
  const auto add = [&](const std::optional<Measured>& number, int power) {
    if (power == 0) return true;
    if (!number->deviation) return false;
    const double relative = power * *number->deviation / number->mean;
    squares += relative * relative;
    return true;
  };
  if (!add(point.energy_kwh, powers.energy) || !add(point.device_hours, powers.hours)) return {};
  return std::sqrt(squares);
}

std::optional<double> deviation_of(const Point& point, double factor, Powers powers, double value) {
  if (int(point.singles.size()) == point.repeats && point.repeats >= 2) {
    std::vector<double> values;
    for (const Single& run : point.singles)
      values.push_back(factor * power_of(run.energy_kwh, powers.energy) *
                       power_of(run.device_hours, powers.hours));
    return sample_of(values)->deviation;
  }
  if (const auto relative = relative_deviation(point, powers)) return *relative * value;
  return {};
}

}  // namespace

std::optional<Derived> derived(const Point& point, double factor, Powers powers) {
  if (powers.energy != 0 && !point.energy_kwh) return {};
  if (powers.hours != 0 && !point.device_hours) return {};
  double value = factor, open = 0;
  const auto take = [&](const std::optional<Measured>& number, int power) {
    if (power == 0) return;
    value *= power_of(number->mean, power);
    open += std::abs(power) * number->half_unit / number->mean;
  };
  take(point.energy_kwh, powers.energy);
  take(point.device_hours, powers.hours);
  if (!std::isfinite(value)) return {};
  Derived result{.value = value, .half_unit = value * open};
  result.deviation = deviation_of(point, factor, powers, value);
  if (result.deviation && point.repeats >= 2)
    result.half_width = half_width({value, result.deviation, point.repeats});
  return result;
}

std::optional<Derived> energy_kwh(const Point& point) { return derived(point, 1, {1, 0}); }
std::optional<Derived> device_hours(const Point& point) { return derived(point, 1, {0, 1}); }

std::optional<Derived> wall_minutes(const Point& point) {
  if (point.devices < 1) return {};
  return derived(point, 60.0 / point.devices, {0, 1});
}

std::optional<Derived> energy_per_device_hour(const Point& point) {
  return derived(point, 1, {1, -1});
}

std::optional<Derived> millions_of_samples_per_device_hour(const Point& point) {
  if (!point.samples) return {};
  return derived(point, *point.samples / 1e6, {0, -1});
}

std::optional<Derived> samples_per_second_and_device(const Point& point) {
  if (!point.samples) return {};
  return derived(point, *point.samples / 3600, {0, -1});
}

std::optional<Derived> passes_per_device_hour(const Point& point) {
  if (!point.passes) return {};
  return derived(point, *point.passes, {0, -1});
}

std::optional<Derived> wh_per_1000_samples(const Point& point) {
  if (!point.samples || *point.samples <= 0) return {};
  return derived(point, 1e6 / *point.samples, {1, 0});
}

std::optional<Derived> energy_per_node(const Point& point) {
  const auto nodes = point.nodes();
  if (!nodes) return {};
  return derived(point, 1 / *nodes, {1, 0});
}

std::optional<Derived> energy_delay(const Point& point) {
  if (point.devices < 1) return {};
  return derived(point, 1.0 / point.devices, {1, 1});
}

}  // namespace parajoule::report
