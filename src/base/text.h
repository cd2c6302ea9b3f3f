#pragma once

#include <string_view>

namespace parajoule::base {

/// Without the blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

}  // namespace parajoule::base
