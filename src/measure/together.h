#pragma once

// A command that was started several times at once, by srun or mpirun: the node is metered once.

#include "measure/gathering.h"
#include "measure/job.h"
#include "measure/measurement.h"

namespace parajoule::measure {

/// Like `run`, of a process that is one of several. The first to come starts a process that meters
/// the node until the commands of all of them have ended; it outlives the one that started it, so
/// that every task ends when its command does. The last one to end brings the record. If the job
/// has other nodes, the last node in a folder that all of them share brings one record of all.
Outcome run_together(const Measurement& measurement, const Task& task, Gathering gathering);

}  // namespace parajoule::measure
