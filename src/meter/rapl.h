#pragma once

// RAPL ("running average power limit"): energy counters of Intel and AMD processors, read through
// the kernel's powercap tree and through perf.

#include "meter/open.h"

namespace parajoule::meter {

/// Reads `<sys>/class/powercap`, `<sys>/devices/virtual/powercap` and the unit `power` of perf.
/// What both show are two sources of one device: powercap's, which comes first, counts, and
/// `account` holds them against each other. Nothing is counted twice: the platform (psys) holds
/// packages and memory, a package its core and uncore, and zones that show one counter (the MMIO
/// twin of a package, the dies of some AMD processors) are one device. A package is known by its
/// name, never by the number of its zone.
Opened open_rapl(const Options& options);

}  // namespace parajoule::meter
