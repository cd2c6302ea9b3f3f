#pragma once

// Quantities are types: a Watt is not a Joule, and 1.5 is neither.

#include <chrono>
#include <compare>

namespace parajoule::base {

using Seconds = std::chrono::duration<double>;

template <class Unit>
struct Quantity {
  double value = 0;
  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend constexpr Quantity operator*(Quantity a, double factor) { return {a.value * factor}; }
  friend constexpr Quantity operator*(double factor, Quantity a) { return {a.value * factor}; }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return {a.value / divisor}; }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Joules = Quantity<struct JouleUnit>;
using Watts = Quantity<struct WattUnit>;

constexpr Joules operator*(Watts power, Seconds time) { return {power.value * time.count()}; }
constexpr Joules operator*(Seconds time, Watts power) { return power * time; }
constexpr Watts operator/(Joules energy, Seconds time) { return {energy.value / time.count()}; }

constexpr double kilowatt_hours(Joules energy) { return energy.value / 3.6e6; }
constexpr double hours(Seconds time) { return time.count() / 3600; }

}  // namespace parajoule::base
