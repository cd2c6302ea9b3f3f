#pragma once

// The ratios runs are compared by.

#include <cstdint>
#include <optional>

#include "base/quantity.h"
#include "meter/total.h"

namespace parajoule::meter {

/// The work done in a span.
struct Work {
  int devices = 1;           ///< ranks that train; on GPUs, GPUs
  base::Seconds wall{0};     ///< length of the span
  std::int64_t samples = 0;  ///< training samples processed, on all ranks
  std::int64_t passes = 0;   ///< forward and backward passes, on all ranks
};

/// Energy over work, of one label.
struct Intensity {
  double kilowatt_hours_per_device_hour;
  std::optional<double> watt_hours_per_1000_samples = {};  ///< none without samples
};

/// Only training samples are counted, though the energy is of the whole span with its evaluations.
struct Figures {
  double device_hours;  ///< devices times wall time
  double samples_per_device_hour;
  double passes_per_device_hour;
  std::optional<Intensity> measured = {};
  std::optional<Intensity> modelled = {};
};

/// The span must have a length and devices: else a bug.
Figures figures(const Totals& totals, const Work& work);

}  // namespace parajoule::meter
