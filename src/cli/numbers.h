#pragma once

// Numbers, moments and names of metrics as a person reads them.

#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::cli {

/// Four significant digits without an exponent where that is readable: 0.01235, 12.35, 1234567.
std::string rounded(double value);

/// The same with its uncertainty to the same digit, rounded up: 12.35 ± 0.02.
std::string rounded(double value, double uncertainty);

/// 12.3 s, 2 min 04 s, 3 h 02 min 05 s.
std::string spoken(base::Seconds time);

/// 0:12, 2:04, 3:02:05: for narrow columns.
std::string clock(base::Seconds time);

/// 12.34 %, of a fraction.
std::string percent(double fraction);

std::string watt_hours(base::Joules energy);

/// 2025-11-30 10:11:12 UTC out of 2025-11-30T10:11:12.123Z; other text as it is.
std::string spoken_utc(std::string_view moment);

/// top-1 error, of top1_error; other names as they are.
std::string metric_name(std::string_view metric);

}  // namespace parajoule::cli
