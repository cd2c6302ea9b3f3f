#pragma once

// A wall meter's own file, joined to a run by time.
//
//   # zone: +01:00
//   time,watts
//   2025-11-30 10:11:12,412.5
//
// Columns have names, with commas, semicolons or tabs between. `time` is seconds since 1970, or
// `2025-11-30 10:11:12.5` with `Z`, `+01:00` behind it or the zone stated above; `watts`, `joules`
// or `kilowatt_hours` (the last two count up) is the number; `outlet` may tell several apart;
// others are passed over. Lines that begin with # state: `zone`, `clock` (seconds that the meter's
// clock is ahead of the node's), `outlet` (its name), `accuracy` (in percent), `feeds` (nodes on
// it).

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "meter/account.h"

namespace parajoule::meter {

struct Wall {
  std::vector<Series> series = {};        ///< of each outlet and quantity; of the kind `outlet`
  std::vector<std::string> remarks = {};  ///< lines that were passed over; that nothing fits
};

/// The rows within `wanted`, at moments of the run's clock, whose zero was `start` seconds after
/// 1970: none beside it, for the readings of a record are its span. What the file leaves out is not
/// filled in. Throws Error{input} that names file and line for one that is no such file or whose
/// zone nobody stated.
Wall wall_of(const std::filesystem::path& file, double start, Span wanted);

/// The same of its text; `name` stands in errors.
Wall wall_in(std::istream& text, const std::string& name, double start, Span wanted);

}  // namespace parajoule::meter
