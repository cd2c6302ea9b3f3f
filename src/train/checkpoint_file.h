#pragma once

// One archive in one file. docs/checkpoint.md has the bytes.

#include <cstdint>
#include <filesystem>

#include "base/archive.h"

namespace parajoule::train {

/// What identifies a file that has been written: its length and the checksum over all of it.
struct Written {
  std::uint64_t bytes = 0;
  std::uint32_t checksum = 0;
  bool operator==(const Written&) const = default;
};

/// Writes `file` so that, whatever happens and whenever, either the old file is there or the whole
/// new one: a temporary file beside it (`file` + ".part"), fsync, read back and compared, rename,
/// fsync of the folder. Holds no second copy of the archive. Throws Error{environment} that names
/// the file and the sizes if the disk is full or fails; the old file is untouched then and the
/// temporary one removed.
Written write_archive(const std::filesystem::path& file, const base::Archive& archive);

/// Throws Error{input} in one line if the file is cut short, damaged, or not a file of ours, and
/// Error{environment} if it cannot be read at all. Takes no more memory than the file is long.
base::Archive read_archive(const std::filesystem::path& file);

/// Reads all of it, checks it like `read_archive`, and keeps nothing.
Written verify_archive(const std::filesystem::path& file);

}  // namespace parajoule::train
