#pragma once

// Text as a cell of CSV.

#include <string>
#include <string_view>

namespace parajoule::store {

/// Quoted by RFC 4180 where that is needed, in UTF-8. A text that a spreadsheet would take for a
/// formula and carry out has an apostrophe before it, which tells it that this is text.
std::string csv_text(std::string_view text);

}  // namespace parajoule::store
