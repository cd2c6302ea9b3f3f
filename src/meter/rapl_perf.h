#pragma once

// RAPL by perf: the unit `power` of the processor, one event for each domain of each package.

#include <vector>

#include "meter/open.h"
#include "meter/rapl_candidates.h"

namespace parajoule::meter {

/// What `<sys>/bus/event_source/devices/power` counts, opened. What cannot be opened is added to
/// `opened`; nothing is said of a machine without that unit.
std::vector<Candidate> perf_candidates(const Options& options, Opened& opened);

/// Whether the processor calls itself one of AMD's, or of Hygon, which builds the same.
bool is_amd(const Options& options);

}  // namespace parajoule::meter
