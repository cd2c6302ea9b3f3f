#pragma once

// Adds to a record after its run has ended: what was told of it, what another meter kept.

#include <filesystem>
#include <vector>

#include "store/rows.h"

namespace parajoule::store {

struct Amendment {
  std::vector<Setting> settings = {};  ///< one that is there already is replaced
  std::vector<Source> sources = {};
  std::vector<Reading> readings = {};
  std::vector<Note> notes = {};
};

/// All of it or nothing. Throws Error{usage} if the run is still going on, Error{input} if the file
/// is no record, Error{environment} if it cannot be written.
void amend(const std::filesystem::path& file, const Amendment& amendment);

}  // namespace parajoule::store
