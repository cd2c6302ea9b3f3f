#pragma once

// What else processors tell: temperature, clock, and how long they were throttled for heat. None of
// it is needed for an energy.

#include "meter/open.h"

namespace parajoule::meter {

/// Read once a second, a handful of files: temperatures of packages out of hwmon, the mean clock of
/// at most eight of the run's processors (`cpufreq`), and the share of the time in which each
/// package was throttled (`thermal_throttle`). What a machine does not tell is not missed.
Opened open_processors(const Options& options);

}  // namespace parajoule::meter
