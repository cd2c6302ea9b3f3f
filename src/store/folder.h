#pragma once

// The records of a folder, and the one a person means.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "store/reader.h"

namespace parajoule::store {

/// The files of a folder that look like records, newest first, but for parts of one that wait to
/// be merged. A folder that is not there has none. Throws Error{environment} if it cannot be read.
std::vector<std::filesystem::path> records_in(const std::filesystem::path& folder);

/// The record that `wanted` names: the path of a file; else, of those in `folder`, the one with
/// this id or with the only id that begins so; or `last`, the one that was started last. Throws
/// Error{usage} in one line if there is none, or more than one.
std::filesystem::path find_record(const std::filesystem::path& folder, std::string_view wanted);

}  // namespace parajoule::store
