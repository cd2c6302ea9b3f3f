#pragma once

// One `parajoule measure` from its first to its last moment.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "measure/command.h"
#include "measure/node_meter.h"

namespace parajoule::measure {

struct Measurement {
  std::vector<std::string> command;
  NodeMeter::Options meter = {};
  base::Seconds idle{0};  ///< for so long the machine is metered before the command starts
};

struct Outcome {
  int status = 0;                                    ///< to exit with: the command's
  std::optional<std::filesystem::path> record = {};  ///< none if nothing was metered
  std::vector<std::string> troubles = {};            ///< what a person must be told, a line each
  std::function<void()> once_told = [] {};           ///< to be called when all that is told
};

/// Runs the command and meters it. What goes wrong with the metering changes nothing for the
/// command. To be called by a process that has no threads and has opened no files.
Outcome run(const Measurement& measurement);

}  // namespace parajoule::measure
