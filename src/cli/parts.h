#pragma once

// The parts of a run, made once before it begins, so that what cannot be had is told then.

#include <optional>

#include "cli/blas.h"
#include "train/experiment.h"

namespace parajoule::cli {

/// Opens what is to be learnt from, and makes what is to learn it and all that goes with it. Throws
/// base::Error with the reason why training could not.
void make_parts(const train::Experiment& experiment);

/// Makes the folders that the run will write to. Throws Error{environment} that names the key.
void make_folders(const train::Experiment& experiment);

/// What this process computes with.
BackendFacts backend_here();

/// The kernel that this process should have been started with.
std::optional<BetterKernel> better_kernel_here();

}  // namespace parajoule::cli
