#pragma once

// The process that meters a node for all tasks of a job there.

#include <optional>
#include <string>
#include <vector>

#include "measure/gathering.h"
#include "measure/job.h"
#include "measure/measurement.h"

namespace parajoule::measure {

/// What it leaves for the last task.
struct Kept {
  std::optional<std::string> record = {};
  std::vector<std::string> troubles = {};
};
std::string written(const Kept& kept);
std::optional<Kept> kept_in(std::string_view text);

/// Meters the node from now until no task is left. To be called in a process of its own.
Kept keep(const Measurement& measurement, const Task& task, const Gathering& gathering);

/// The same in a new process, which nothing that happens to this one or its terminal reaches. The
/// lock stays held by it, and not by this one. Returns that process.
pid_t start_keeper(const Measurement& measurement, const Task& task, const Gathering& gathering,
                   Lock lock);

}  // namespace parajoule::measure
