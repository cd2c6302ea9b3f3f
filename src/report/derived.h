#pragma once

// What follows from energy and device hours by multiplying and dividing: each with what the
// rounding of the input leaves open, and the interval that the repeats give.

#include <optional>
#include <string>

#include "report/point.h"

namespace parajoule::report {

struct Derived {
  double value;
  double half_unit;                       ///< bound on the error from the rounding of the input
  std::optional<double> half_width = {};  ///< of Student's 95 % interval, from the repeats
  std::optional<double> deviation = {};   ///< the sample's
};

/// factor * energy^a * hours^b of the means. The deviation is that of the single runs where they
/// are known; else both deviations add as squares, as if independent. None without the numbers it
/// needs.
struct Powers {
  int energy;
  int hours;
};
std::optional<Derived> derived(const Point& point, double factor, Powers powers);

std::optional<Derived> energy_kwh(const Point& point);
std::optional<Derived> device_hours(const Point& point);
std::optional<Derived> wall_minutes(const Point& point);
/// The mean power of a device with its share of the node, in kilowatts: the identity.
std::optional<Derived> energy_per_device_hour(const Point& point);
std::optional<Derived> millions_of_samples_per_device_hour(const Point& point);
std::optional<Derived> samples_per_second_and_device(const Point& point);
std::optional<Derived> passes_per_device_hour(const Point& point);
std::optional<Derived> wh_per_1000_samples(const Point& point);
std::optional<Derived> energy_per_node(const Point& point);
/// Kilowatt-hours times hours of wall time.
std::optional<Derived> energy_delay(const Point& point);

}  // namespace parajoule::report
