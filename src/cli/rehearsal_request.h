#pragma once

// From an experiment file and the command line to a rehearsal.

#include <optional>
#include <string>
#include <vector>

#include "rehearse/rehearsal.h"
#include "store/rows.h"

namespace parajoule::cli {

/// What a person asked for.
struct RehearsalRequest {
  std::string experiment;                   ///< a file
  std::string machine;                      ///< a file
  std::optional<std::string> profile = {};  ///< a file; none: the one that is called like the model
  std::vector<std::string> set = {};
  std::optional<int> ranks = {};
  std::int64_t steps = 0;                   ///< 0: those of the experiment, or a few
  std::int64_t samples = 0;                 ///< in the training set; 0: not said
  std::optional<double> pass_seconds = {};  ///< measured: of one batch, forward and backward
  bool expand = false;                      ///< sums run their messages
};

struct RehearsalPlan {
  rehearse::Rehearsal rehearsal;
  std::string name;  ///< of the experiment
  std::string model;
  std::string records;  ///< folder
  std::vector<store::Setting> settings;
  std::vector<std::string> remarks;  ///< what stands in the file and is not looked at
};

/// Throws Error{usage} or Error{input} in one line.
RehearsalPlan rehearsal_of(const RehearsalRequest& request);

}  // namespace parajoule::cli
