#pragma once

// From which global batch on quality degrades.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/moments.h"

namespace parajoule::report {

/// The error at one global batch size, larger is worse.
struct AtBatch {
  double global_batch_size;
  Sample error;
};

struct Onset {
  double global_batch_size;  ///< the smallest from which on every one is worse
  double worse_by;           ///< there, against the smallest batch
  double p;                  ///< there, by Holm
};

/// One-sided tests by Welch of each batch against the smallest, at 5 % together by Holm (1979):
/// degradation begins where all from there on are worse. None if nothing is found. Rows without
/// repeats are left out; `tested` says how many were not.
struct Degradation {
  int tested = 0;
  std::optional<Onset> onset = {};
};
Degradation degradation(std::vector<AtBatch> rows);

}  // namespace parajoule::report
