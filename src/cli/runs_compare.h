#pragma once

// Two sets of runs against each other, for people and for scripts.

#include <string>
#include <vector>

namespace parajoule::cli {

/// Prints what differs, with intervals, then a line on each limit. Either side is a record, an id,
/// a folder of records or a CSV of runs. Gives 0 if no limit is passed, 1 if one surely is, 7 if it
/// cannot be told. Throws Error{usage, input} for what is none of those.
int compare_runs(const std::string& records, const std::vector<std::string>& sides,
                 const std::vector<std::string>& limits);

}  // namespace parajoule::cli
