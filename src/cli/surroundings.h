#pragma once

// Under what this process was started: by a person, or as one of many by mpirun, srun or torchrun.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace parajoule::cli {

/// The environment, as a parameter: the value of a variable if it is there.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// That of this process.
std::optional<std::string> environment(std::string_view name);

/// The part of a job that this process is, as whoever started it says.
struct Place {
  std::string starter;  ///< mpirun, srun, RANK
  int rank = 0;
  int ranks = 1;
  int ranks_on_node = 1;
  std::string remedy;  ///< what to do when MPI finds a size of one all the same
};

/// None when a person, or a batch script, started this one process.
/// Throws Error{environment} under an `srun` that gives its tasks no way to find each other.
std::optional<Place> place_in(const Environment& environment);

}  // namespace parajoule::cli
