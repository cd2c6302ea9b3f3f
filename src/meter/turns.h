#pragma once

#include <memory>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// Leaves the energy counters among `sources` to a thread of its own, which reads one after the
/// other and notes when: where each takes milliseconds, as NVML's do, no round waits for them all.
/// At both ends of a run they are read at once.
void read_counters_apart(std::vector<std::unique_ptr<Source>>& sources, base::Seconds every);

}  // namespace parajoule::meter
