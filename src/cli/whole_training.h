#pragma once

// A training that was stopped or killed and went on: its records, and what they took together.

#include <optional>
#include <string>
#include <vector>

#include "cli/table.h"
#include "meter/total.h"
#include "store/reader.h"

namespace parajoule::cli {

struct WholeTraining {
  struct Start {
    std::string id;
    store::Standing standing;
    base::Seconds wall;
    meter::Totals totals;
  };
  std::vector<Start> starts;                ///< from the first on; the last one is the record asked
  std::optional<std::string> missing = {};  ///< the record before `starts` that cannot be read

  base::Seconds wall() const;
  meter::Totals totals() const;
};

/// Follows a record to those it goes on from, which lie in the same folder. None if it goes on from
/// none.
std::optional<WholeTraining> whole_training(const store::Reader& record);

/// A table of the starts and their sum, measured and modelled apart. Empty without one.
std::string whole_training_text(const std::optional<WholeTraining>& training, Look look);

/// The newest checkpoint in the folder of the record's run, with the trained weights, and how to
/// read it; nothing if there is none on this machine.
std::vector<std::string> checkpoint_of(const store::Reader& record);

}  // namespace parajoule::cli
