#pragma once

// How many cores of this node are ours to use.

#include <filesystem>

namespace parajoule::cli {

/// Physical cores among the logical ones that this process may run on (its affinity, which cgroups,
/// Slurm and taskset set): two hardware threads of one core count once. `system` is where the
/// kernel describes its processors.
int usable_cores(const std::filesystem::path& system = "/sys/devices/system/cpu");

}  // namespace parajoule::cli
