#pragma once

// What a rank has done with its time.

#include <algorithm>

#include "base/quantity.h"
#include "comm/communicator.h"
#include "simulate/options.h"

namespace parajoule::simulate {

/// Of one rank, when a world has run.
struct Account {
  base::Seconds finished{0};      ///< when the rank came to its end
  base::Seconds computing{0};     ///< spent, and in vector operations
  base::Seconds waited{0};        ///< in the communicator with nothing to compute: exposed
  base::Seconds transferring{0};  ///< while at least one transfer of this rank was under way
  comm::Communicator::Traffic traffic = {};

  /// idle for all of `until`, and on top of it what computing and transferring add: where they
  /// overlap, both.
  base::Joules energy(const Device& device, base::Seconds until) const {
    return device.idle * until + (device.compute - device.idle) * computing +
           (device.communicate - device.idle) * transferring;
  }
};

}  // namespace parajoule::simulate
