#pragma once

// A wall meter's file as a source of a record: taken in when the run ends, or later.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "meter/account.h"
#include "store/rows.h"

namespace parajoule::measure {

/// The rows of a record that a wall meter's file makes.
struct Joined {
  std::vector<store::Source> sources = {};
  std::vector<store::Reading> readings = {};
  std::vector<std::string> remarks = {};
};

/// The rows of another file behind these.
void append(Joined& all, Joined more);

/// `started_utc`: of the record; `run`: from its start to its end; sources are numbered from
/// `first_source`. Throws as `meter::wall_of`.
Joined joined(const std::filesystem::path& file, const std::string& started_utc, meter::Span run,
              int first_source, int node);

/// Adds it to a record whose run has ended. Gives the remarks. Throws Error{usage} if its rows are
/// in the record already or there is no such node, Error{input} if none is of the run's time, and
/// as `store::amend`.
std::vector<std::string> join(const std::filesystem::path& record,
                              const std::filesystem::path& file, int node);

}  // namespace parajoule::measure
