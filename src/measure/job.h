#pragma once

// The part of a job that this process is, as whoever started it says: Slurm, an MPI, or nobody.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "store/rows.h"

namespace parajoule::measure {

using base::Environment;
using base::environment;

/// One of several processes that were started together.
struct Task {
  std::string job;  ///< the same in all of them, on all nodes, and in no other job of this user
  int rank = 0;
  int ranks = 1;
  std::optional<int> on_node = {};  ///< how many of them are on this node
  std::optional<int> nodes = {};    ///< of the job step
};

/// None of a process that was started alone.
std::optional<Task> task_in(const Environment& environment);

/// What Slurm says of the job, as settings `slurm.job_id` and the like. None outside of Slurm.
std::vector<store::Setting> slurm_settings(const Environment& environment);

/// "2(x3),1" -> 2, 2, 2, 1: how Slurm writes the tasks of each node. Empty if it is not that.
std::vector<int> tasks_of_nodes(std::string_view text);

}  // namespace parajoule::measure
