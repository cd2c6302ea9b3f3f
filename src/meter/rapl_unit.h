#pragma once

// Where the unit of a RAPL counter is in doubt.

#include <optional>
#include <string>

#include "meter/open.h"
#include "meter/rapl_zones.h"

namespace parajoule::meter {

/// Why a counter may count in another unit than the kernel takes it for.
struct UnitDoubt {
  std::string words;
  double bias;  ///< 95 % bound, relative to what is shown
};

/// Of the memory of Sapphire Rapids. Kernels before 6.1 may take its counter for one of 15.3 uJ a
/// step, as older servers had, when it counts 61 uJ: then a quarter is shown. Mended by the commits
/// 4c081324df56 (powercap) and 80275ca9e525 (perf), which older kernels may have been given too:
/// that cannot be seen from outside. None: no doubt.
std::optional<UnitDoubt> memory_unit_doubt(const Options& options, Reach reach);

}  // namespace parajoule::meter
