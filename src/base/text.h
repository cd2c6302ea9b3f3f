#pragma once

#include <string>
#include <string_view>

namespace parajoule::base {

/// Without the blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// In one line: control characters as "\n", "\t" or "\x1b".
std::string escaped(std::string_view text);

/// Words of an input, fit to be repeated in an error: `escaped`, and of a longer text the first
/// `most` bytes with "..." behind them.
std::string shown(std::string_view text, std::size_t most = 60);

}  // namespace parajoule::base
