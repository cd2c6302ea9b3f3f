#pragma once

// Under what this process was started: by a person, or as one of many by mpirun or srun.

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"

namespace parajoule::cli {

using base::Environment;
using base::environment;

/// The part of a job that this process is, as whoever started it says.
struct Place {
  std::string starter;  ///< mpirun, srun, mpiexec
  int rank = 0;
  int ranks = 1;
  std::string remedy;  ///< what to do when MPI finds a size of one all the same
};

/// None when a person, a batch script, or a job step of one task started this one process.
/// Throws Error{environment} under an `srun` that gives its tasks no way to find each other, and
/// under torchrun.
std::optional<Place> place_in(const Environment& environment);

/// Whether this process is alone or the first of those that were started together: the one that
/// tells what all of them find.
bool speaks_for_all(const Environment& environment);

/// How many of `ranks` that mpirun starts here share a node at most. In an allocation of several
/// nodes Slurm says how it hands them out, "2(x3),1"; else there is one node.
int most_on_a_node(const Environment& environment, int ranks);

}  // namespace parajoule::cli
