#pragma once

// What of a command goes on after its end.

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

/// The descendants of this process that still run, but for `other` and its own. None where /proc
/// cannot be read.
std::vector<Left> left_behind(pid_t other);

}  // namespace parajoule::measure
