#pragma once

#include <optional>
#include <string>

#include "base/quantity.h"

namespace parajoule::measure {

/// What Slurm itself counted for a job step, by `sacct`; none where there is no such program, or it
/// has no number, or does not answer in time. A step that still runs often has none.
std::optional<base::Joules> slurm_energy(const std::string& job, const std::string& step,
                                         const std::string& sacct = "sacct");

}  // namespace parajoule::measure
