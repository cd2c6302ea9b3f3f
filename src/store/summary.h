#pragma once

// What a training run did, from its record alone: its quality, its work, and where its time went.
// Energies are added by `cli/`, which also sees the meter's accounting.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "store/reader.h"

namespace parajoule::store {

/// A metric of the last evaluation of a set.
struct Score {
  std::int64_t epoch;
  std::string set;
  std::string metric;
  double value;  ///< numerator / denominator: a fraction of the samples, or a mean over them
};

/// One phase's part of the time of all ranks that train.
struct Share {
  std::string phase;
  double fraction;
};

/// What was done between two moments.
struct Stretch {
  base::Seconds begin;
  base::Seconds end;
  int devices = 0;           ///< ranks that train
  std::int64_t samples = 0;  ///< taken in training, on all ranks
  std::int64_t passes = 0;   ///< forward and backward passes, on all ranks
  std::int64_t sent_bytes = 0;
  base::Seconds waited{0};    ///< of all ranks for others
  std::vector<Share> shares;  ///< every one of `phases`, in that order, then "other"

  base::Seconds length() const { return end - begin; }
};

struct Summary {
  Run run;
  Standing standing;
  std::int64_t epochs = 0;    ///< that were evaluated
  std::vector<Score> scores;  ///< in the order of the record
  Stretch whole;              ///< from the first to the last reading; without any, of the record
  /// The same without the first `settling_steps` of every rank; none if the run has none, or did
  /// not get beyond them.
  std::optional<Stretch> settled;
  std::int64_t settling_steps = 0;
};

/// Throws Error{input} as `Reader` does.
Summary summarise(const Reader& record);

}  // namespace parajoule::store
