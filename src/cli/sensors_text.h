#pragma once

// What `parajoule sensors` prints.

#include <cstddef>
#include <string>

#include "cli/sensed.h"
#include "cli/table.h"

namespace parajoule::cli {

/// For a person, in lines of at most `columns`. Numbers that are not of energy or power are named
/// in a line for each device, or with `all` shown like the others.
std::string sensors_text(const Sensed& sensed, std::size_t columns, Look look, bool all = false);

/// For programs: {"format": "parajoule sensors", "version": 1, ...}; docs/measuring.md names the
/// members.
std::string sensors_json(const Sensed& sensed);

/// `61 µJ`, `1.2 ms`, `250 W`: two or three digits with the prefix that fits.
std::string scaled(double value, std::string_view unit);

}  // namespace parajoule::cli
