#pragma once

// What is metered while a run trains.

#include <filesystem>
#include <vector>

#include "meter/open.h"
#include "train/place.h"

namespace parajoule::train {

/// One rank's machine, with the meters that were named for it; tests pretend other machines.
struct Hardware {
  Machine machine = this_machine();
  meter::Options meters = {};  ///< but processors and GPUs: those of the node's ranks together
  std::vector<std::filesystem::path> wall = {};  ///< files of wall meters, read at the end
};

}  // namespace parajoule::train
