#pragma once

// The control group in which a run's processes are: what of the machine is theirs.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "meter/open.h"

namespace parajoule::meter {

struct ControlGroup {
  std::string name;              ///< `/system.slice/slurmstepd.scope/job_17`
  std::filesystem::path folder;  ///< under `<sys>/fs/cgroup`
};

/// Of version 2, that of this process; of a Slurm job the group of the whole job, for each of its
/// tasks has one of its own. None where the process is in the machine's own, with everything else.
std::optional<ControlGroup> own_control_group(const Options& options);

/// The name in a line of `/proc/self/cgroup`, `0::/name` or `4:memory:/name`; empty if there is
/// none.
std::string group_named(std::string_view text, std::string_view key);

/// Processor time of all that is or was in a group, out of its `cpu.stat`.
std::optional<base::Seconds> processor_time_in(std::string_view cpu_stat);

}  // namespace parajoule::meter
