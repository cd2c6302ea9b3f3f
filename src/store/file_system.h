#pragma once

// On what a record is kept: write-ahead logging needs memory that all readers share, which file
// systems over a network do not give.

#include <filesystem>
#include <string>

namespace parajoule::store {

struct FileSystem {
  std::string name;    ///< `ext4`, `nfs`, `lustre` ...
  bool shared_memory;  ///< all who open a file are on this machine and see one memory
  bool locks;          ///< a lock on a file keeps others out
};

/// The name that belongs to `f_type` of statfs(2), and whether it is known to be a local one. What
/// is not known counts as one without shared memory. Locks are taken to work.
FileSystem file_system_of_type(long f_type);

/// That of `folder`, by statfs(2) and by trying a lock on a file there.
/// Throws Error{environment} that names the folder.
FileSystem file_system(const std::filesystem::path& folder);

/// Moves a file, also to another file system: it stands under `to` whole or not at all, and on
/// disk. Throws Error{environment} that names both; the file then still lies at `from`.
void move_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace parajoule::store
