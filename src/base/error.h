#pragma once

// How failure is told: one exception that says whose move it is to mend it.

#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace parajoule::base {

/// Whose move it is to mend a failure. `cli/` maps it to the exit status.
enum class Fault {
  usage,         ///< the command line or the experiment file: status 2
  input,         ///< a file the user gave, or data that is not there: status 2
  environment,   ///< this machine: space, permission, a package: status 3
  peer,          ///< another rank died or stalled: status 4
  bug,           ///< ours: status 5
  not_a_number,  ///< the loss or the weights are no numbers any more: status 6
};

/// Thrown where a failure is found, caught once in `cli/`, printed there as one line. `what` names
/// the thing, its value, and the way out; it holds no newline.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& what) : std::runtime_error(what), fault(fault) {}
  const Fault fault;
};

/// States what the author holds to be true. Failing means a bug here, never a bad input.
void ensure(bool holds, std::string_view claim,
            std::source_location at = std::source_location::current());

}  // namespace parajoule::base
