#pragma once

#include "cli/tracing.h"

namespace parajoule::cli {

/// One rank of `parajoule trace --world mpi`; gives the status to end with.
int trace_rank(const TraceWords& words);

}  // namespace parajoule::cli
