#pragma once

// Why a command or a rank cannot go on.

#include <exception>
#include <string>

#include "base/error.h"

namespace parajoule::cli {

/// With whose move it is; one line.
struct Cause {
  base::Fault fault;
  std::string text;
};
Cause cause_of(const std::exception_ptr& thrown);

/// Prints the cause; gives the status to end with.
int tell_failure(const std::exception_ptr& thrown);

}  // namespace parajoule::cli
