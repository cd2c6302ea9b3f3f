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

/// A sentence about it for a person.
std::string told(const Left& left);

/// The descendants of this process that still run, but for `own`, ours, and theirs. None where
/// /proc cannot be read.
std::vector<Left> left_behind(std::span<const pid_t> own);

}  // namespace parajoule::measure
