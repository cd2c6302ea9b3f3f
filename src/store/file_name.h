#pragma once

// How records are told apart: an id, the moment of the start, a file name made of both.

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::store {

/// Eight random letters, from the system's own source of random numbers.
std::string random_id();

/// A moment in UTC: `2025-11-30T10:11:12.123Z`.
std::string written_utc(std::chrono::system_clock::time_point moment);

/// Seconds since 1970 of such a text; 0 of anything else.
double seconds_of_utc(const std::string& utc);

/// `<start>-<name>-<id>.db`: names that sort by their start and survive every file system.
std::string file_name(std::string_view started_utc, std::string_view name, std::string_view id);

/// The folder, made if it is not there, as an absolute path without links.
/// Throws Error{environment} that names it.
std::filesystem::path folder_of_records(const std::filesystem::path& folder);

/// Folders for what finds no place elsewhere, the most wanted first: TMPDIR, /tmp, /var/tmp, and
/// /dev/shm, which is memory. Those alone that this process may write to.
std::vector<std::filesystem::path> temporary_folders();

/// The first of them. Throws Error{environment} if there is none.
std::filesystem::path temporary_folder();

/// Why TMPDIR is not among them, though it is set; else empty.
std::string unusable_tmpdir();

}  // namespace parajoule::store
