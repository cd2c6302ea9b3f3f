#pragma once

// Cray's power monitoring of a whole node, in files.

#include <cstdint>
#include <optional>
#include <string_view>

#include "meter/open.h"

namespace parajoule::meter {

/// Reads `<sys>/cray/pm_counters`: the energy and power of the node, and what of it goes to its
/// processors, its memory and each accelerator. Renewed ten times a second. A counter that goes on
/// after `generation` has changed is another one: the energy around the change is lost, and said to
/// be. When `freshness` stands still, the numbers are old and none is given.
Opened open_cray(const Options& options);

/// The number of `1234 J 1690000000 us` or of `250 W ...`, if that is its unit.
std::optional<std::uint64_t> cray_number(std::string_view text, std::string_view unit);

}  // namespace parajoule::meter
