#pragma once

#include <string_view>

namespace parajoule::cli {

/// Writes all of `text` to the file descriptor `file`; false, with `errno` set, if it cannot.
bool write_all(int file, std::string_view text);

}  // namespace parajoule::cli
