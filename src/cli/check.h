#pragma once

#include "cli/launch.h"
#include "cli/rank.h"

namespace parajoule::cli {

/// Finds out, without MPI, whether an experiment can be started here, and what its start needs.
/// Makes the run's folder. Throws base::Error with the reason if not.
LaunchFacts check(const RankOptions& options);

}  // namespace parajoule::cli
