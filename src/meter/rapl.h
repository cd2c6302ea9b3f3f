#pragma once

// RAPL ("running average power limit"): energy counters of Intel and AMD processors, read through
// the kernel's powercap tree.

#include "meter/open.h"

namespace parajoule::meter {

/// Reads `<sys>/class/powercap` and `<sys>/devices/virtual/powercap`. Nothing is counted twice:
/// the platform (psys) holds packages and memory, a package its core and uncore, and a zone that
/// shows another one's counter (the MMIO twin of a package, the dies of some AMD processors) is
/// part of that one. A package is known by its name, never by the number of its zone.
Opened open_rapl(const Options& options);

}  // namespace parajoule::meter
