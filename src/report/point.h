#pragma once

// A configuration of a study with what its repeats gave: the rows all tables are made of.

#include <optional>
#include <string>
#include <vector>

#include "report/moments.h"

namespace parajoule::report {

/// The mean over the repeats of a configuration.
struct Measured {
  double mean;
  double half_unit = 0;                  ///< what the input's last digit leaves open
  std::optional<double> deviation = {};  ///< the sample's; none of a single run
};

/// One run, where a study tells of each.
struct Single {
  double energy_kwh;
  double device_hours;
};

struct Point {
  std::string series;
  std::string hardware = {};           ///< empty: not told
  std::string label = "as published";  ///< measured, modelled ...: never put together
  int devices = 0;
  std::optional<double> devices_per_node = {};
  std::optional<double> local_batch = {};
  std::optional<double> global_batch = {};
  std::optional<double> data_set = {};  ///< samples of one epoch
  std::optional<double> samples = {};   ///< taken in training, over all epochs
  std::optional<double> passes = {};    ///< forward and backward passes of all devices
  std::optional<double> epochs = {};
  int repeats = 1;
  std::optional<Measured> energy_kwh = {};
  std::optional<Measured> device_hours = {};
  std::optional<Measured> error = {};    ///< of the last epoch; larger is worse
  std::string error_name = {};           ///< with its unit
  std::optional<double> bias = {};       ///< relative, common to all sensors of the type, 95 %
  std::vector<Single> singles = {};      ///< of each repeat, where it is known
  std::vector<double> errors = {};       ///< the same
  std::vector<std::string> seeds = {};   ///< the different ones
  std::vector<std::string> behind = {};  ///< the records, or lines of a file, it is made of

  bool preliminary() const { return repeats < 2; }
  /// Without `devices_per_node`, none.
  std::optional<double> nodes() const;
  std::optional<double> wall_hours() const;
};

/// Runs of the same configuration become one point, in the order in which each comes first. Points
/// that are means already stay as they are.
std::vector<Point> grouped(const std::vector<Point>& rows);

/// Each once, though it may stand in several series: the same numbers of the same configuration, or
/// the same records.
std::vector<Point> distinct(const std::vector<Point>& points);

/// The series in the order in which they come, each with its points by number of devices.
struct Series {
  std::string name;
  std::vector<Point> points;
};
std::vector<Series> series_of(const std::vector<Point>& points);

}  // namespace parajoule::report
