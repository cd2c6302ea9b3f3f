#pragma once

// Trains: the loop that names no method, no model and no machine.

#include <cstdint>
#include <functional>
#include <string>

#include "comm/communicator.h"
#include "train/experiment.h"
#include "train/hardware.h"
#include "train/reporter.h"

namespace parajoule::train {

struct Outcome {
  bool stopped = false;    ///< by a signal; a checkpoint is written and the next start resumes
  std::int64_t steps = 0;  ///< done by the ranks that take most, over all starts
  std::string record;      ///< path, on rank 0
};

/// Whether this rank has been told to stop: asked at every step boundary, and between the parts of
/// an evaluation.
using AskedToStop = std::function<bool()>;

/// Collective over `group`, the world. Resumes from the newest checkpoint in `experiment.folder` if
/// there is one. Throws what went wrong; everything recorded until
/// then is in the record.
Outcome run(const Experiment& experiment, comm::Communicator& group, Reporter& reporter,
            const AskedToStop& asked_to_stop, const Hardware& hardware = {});

}  // namespace parajoule::train
