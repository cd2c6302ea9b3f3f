#pragma once

// One rank of a run, in a process of its own.

#include <filesystem>
#include <optional>

#include "cli/experiment.h"
#include "cli/other_meters.h"
#include "cli/run_folder.h"

namespace parajoule::cli {

struct RankOptions {
  Request request;
  Begin begin = Begin::resume_if_possible;
  /// Chosen by the launcher, which also shows what this rank says. None: this rank was started by
  /// srun or the like, and speaks for itself.
  std::optional<std::filesystem::path> folder = {};
  std::string command = {};  ///< the command line, for the record
  OtherMeters meters = {};
};

/// Trains; gives the exit status. Prints or notes the first cause of a failure, and throws nothing.
int run_rank(const RankOptions& options);

/// What makes two starts of `experiment` the same run: all settings but those of the machine and of
/// what is written where.
RunIdentity identity_of(const train::Experiment& experiment);

/// What all ranks of a run must have in common, a line each.
std::string common_settings(const train::Experiment& experiment);

}  // namespace parajoule::cli
