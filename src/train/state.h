#pragma once

// From what all ranks hold to a checkpoint and back.

#include <cstdint>
#include <string>
#include <vector>

#include "base/archive.h"
#include "comm/communicator.h"
#include "train/checkpoint.h"
#include "train/job.h"

namespace parajoule::train {

/// Where training stands between two steps, which are those of the ranks that take most.
struct Position {
  std::int64_t epoch = 0;  ///< under way, from 0
  std::int64_t step = 0;   ///< done in it; all of them: its evaluation is still to come
  std::int64_t steps = 0;  ///< done in all epochs
  double loss_sum = 0;     ///< of the epoch so far, over the samples of all ranks
  double loss_samples = 0;
  double last_loss = 0;  ///< mean of the epoch before
};

/// Collective. What is equal on all ranks is shared; the rest is each rank's own. Where replicas
/// differ, the weights to evaluate are stored beside them, so that another number of ranks can go
/// on from there.
Checkpoint gather(Job& job, const Position& position);

/// Takes a checkpoint up. Returns lines that say what could not be taken up (with another number of
/// ranks, what was each rank's own). Throws Error{input} that names the first difference if the
/// checkpoint is of another experiment, or of another number of ranks where those take different
/// numbers of steps: what is left of an epoch could not be shared out anew.
std::vector<std::string> take_up(Job& job, Position& position,
                                 const Checkpoints::Restored& restored);

}  // namespace parajoule::train
