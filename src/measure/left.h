#pragma once

// What of a command goes on after its end.

#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "base/quantity.h"

namespace parajoule::measure {

/// A process that the command left behind.
struct Left {
  pid_t process;
  std::string name;
  base::Seconds cpu;  ///< its own, and of the children it waited for
};

/// One sentence about all of them for a person, however many there are; there must be one.
std::string told(std::span<const Left> left);

/// The descendants of this process that still run, but for `own`, ours, and theirs. None where
/// /proc cannot be read.
std::vector<Left> left_behind(std::span<const pid_t> own);

}  // namespace parajoule::measure
