#pragma once

// What a management controller writes in Redfish (DMTF DSP0266), as plain values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace parajoule::meter {

/// Addresses in an answer, from the root of the server; none where it has none or is no JSON.
std::vector<std::string> redfish_members(std::string_view json);
std::optional<std::string> redfish_link(std::string_view json, std::string_view name);

/// Of `Power`, the first PowerControl's PowerConsumedWatts; of `EnvironmentMetrics`, PowerWatts.
/// None where there is none, it is null, or it is no number above 0.
std::optional<base::Watts> redfish_power(std::string_view json);

/// Of `EnvironmentMetrics`, EnergykWh, which counts up.
std::optional<base::Joules> redfish_energy(std::string_view json);

}  // namespace parajoule::meter
