#pragma once

// The accounting of P. Huber et al., "Energy Consumption in Parallel Neural Network Training",
// 2025, arXiv:2508.07706, as its published evaluation computes it: a profile of its own, so that
// numbers can be put beside those of the paper. It knows no overhead, no PUE, and no uncertainty.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "meter/account.h"

namespace parajoule::meter {

/// Energies of one label in the paper's three parts.
struct StudyEnergy {
  base::Joules gpu;
  base::Joules cpu;     ///< packages
  base::Joules memory;  ///< of packages; on machines without that meter the paper has none either
  base::Joules whole() const { return gpu + cpu + memory; }
};

/// What the paper counts of a run.
struct StudyWork {
  int devices = 1;                    ///< the paper's N_GPU
  std::int64_t updates = 0;           ///< the paper's gradient updates
  std::int64_t local_batch_size = 1;  ///< LBS
};

/// Ratios of one label, in the paper's units.
struct StudyIntensity {
  StudyEnergy energy = {};
  double kilowatt_hours = 0;
  double kilowatt_hours_per_device_hour = 0;
  std::optional<double> watt_hours_per_1000_samples = {};
};

struct StudyAccount {
  /// The longest of any node: from its first to its last reading of energy or power.
  base::Seconds run_time{0};
  double device_hours;             ///< GPUh: run time times devices
  double samples_per_device_hour;  ///< updates times devices times LBS, a GPUh
  double passes_per_device_hour;   ///< the same over LBS
  std::optional<StudyIntensity> measured = {};
  std::optional<StudyIntensity> modelled = {};
};

/// Every source's powers, integrated over all its readings by the trapezoid rule. Of a counter, the
/// powers are its differences, each set at the later reading, so that its first stretch is lost. Of
/// a GPU its power is taken before its counter. `nodes` holds the series of each node.
StudyAccount study_account(std::span<const std::vector<Series>> nodes, const StudyWork& work);

}  // namespace parajoule::meter
