#pragma once

// What of this machine a run has: the inputs of the power model.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "meter/control_group.h"
#include "meter/open.h"

namespace parajoule::meter {

/// What the model was told of this machine.
struct Machine {
  std::vector<int> processors;               ///< logical, those of the run
  int cores;                                 ///< physical, those that hold them
  std::string processor;                     ///< as it calls itself
  std::optional<double> highest_hertz = {};  ///< clock, if the kernel tells
  double memory_gib;                         ///< of the node, or what the run's cgroup may use
  double memory_share = 1;                   ///< of the node's that this is
  std::optional<int> modules = {};         ///< of the node's memory, if the firmware's list is open
  std::optional<ControlGroup> group = {};  ///< of the run, if it has one of its own
};

/// Throws Error{environment} if `<proc>/meminfo` cannot be read.
Machine machine(const Options& options);

/// That power cannot be modelled for want of a kernel file.
base::Error unusable(const std::filesystem::path& file, const std::string& why);

}  // namespace parajoule::meter
