#pragma once

#include "cli/experiment.h"
#include "cli/launch.h"
#include "cli/run_folder.h"

namespace parajoule::cli {

/// Finds out, without MPI, whether an experiment can be started here, and what its start needs.
/// Makes the run's folder. Throws base::Error with the reason if not.
LaunchFacts check(const Request& request, Begin begin);

}  // namespace parajoule::cli
