#pragma once

// One record of those that the nodes of a job wrote each for itself.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace parajoule::measure {

/// Makes a record of all of them in `folder`; they stay. Those of one start of a machine whose
/// times overlap are of one node: their sources are put together, and none counts twice. Moments of
/// different machines are joined by their clocks of the day. Throws Error{usage} in one line for
/// records that cannot be merged, Error{input} as `store::Reader`, Error{environment} if the folder
/// cannot be written. None if another process made the same record at the same moment.
std::optional<std::filesystem::path> merge(std::span<const std::filesystem::path> files,
                                           const std::filesystem::path& folder);

/// The parts `<id>.<number>.db` in a folder.
std::vector<std::filesystem::path> parts_in(const std::filesystem::path& folder,
                                            const std::string& id);

/// How many of a job's tasks finished parts speak for.
int tasks_in(std::span<const std::filesystem::path> parts);

}  // namespace parajoule::measure
