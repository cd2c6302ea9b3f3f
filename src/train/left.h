#pragma once

// What is left to do, for the live line.

#include <cstdint>

#include "train/job.h"
#include "train/state.h"

namespace parajoule::train {

struct Left {
  std::int64_t last_step;  ///< that the epoch under way will have come to
  double samples;          ///< to train on; three that are only evaluated count as one
};
Left left_of(const Job& job, const Position& at);

}  // namespace parajoule::train
