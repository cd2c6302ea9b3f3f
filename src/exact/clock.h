#pragma once

// Where the time of a rank passes.

#include <functional>

#include "base/quantity.h"

namespace parajoule::exact {

struct Clock {
  std::function<base::Seconds()> now;
  /// Lets so much of it pass.
  std::function<void(base::Seconds)> spend;
};

/// Of this machine: `spend` sleeps.
Clock real_clock();

}  // namespace parajoule::exact
