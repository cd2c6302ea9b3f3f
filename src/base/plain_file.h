#pragma once

// Files that somebody else names or makes, read without ever waiting for them.

#include <cstddef>
#include <filesystem>
#include <string>

namespace parajoule::base {

enum class Links { followed, refused };

/// What a regular file holds. Throws Error{input}, which names the file, if it is of another kind
/// (a FIFO would be waited for, a device may never end), cannot be read, or holds more than `most`
/// bytes.
std::string plain_text(const std::filesystem::path& file, std::size_t most,
                       Links links = Links::followed);

}  // namespace parajoule::base
