#pragma once

#include <map>
#include <vector>

#include "meter/account.h"
#include "store/reader.h"

namespace parajoule::measure {

/// The sources of a record with their readings, by node.
std::map<int, std::vector<meter::Series>> series_of(const store::Reader& record);

}  // namespace parajoule::measure
