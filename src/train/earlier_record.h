#pragma once

// A training that was stopped and went on has a record for each start. Its folder lists them, so
// that what it took as a whole can be added up.

#include <filesystem>
#include <optional>
#include <string>

namespace parajoule::train {

/// Adds the record `id` to the list of the run's folder; gives the one before, if there is one.
/// Throws Error{environment} that names the file if it cannot be read or written.
std::optional<std::string> follow_earlier_record(const std::filesystem::path& run_folder,
                                                 const std::string& id);

}  // namespace parajoule::train
