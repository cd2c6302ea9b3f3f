#pragma once

// What was said about an experiment, before it is known whether it makes sense.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace parajoule::cli {

/// One key with its value, and where it was said.
struct Wish {
  std::string table;  ///< of a choice's options; empty: the top of the file
  std::string key;
  base::Value value;
  std::string place;  ///< "experiment.toml:12", begins an error's line
};

/// What stands in a file, in the order of its lines. Throws Error{usage} that names file and line.
std::vector<Wish> read_wishes(const std::string& path);

/// The same from text; `path` is what errors call it.
std::vector<Wish> wishes_in(std::string_view text, const std::string& path);

/// `table.key=value` or `key=value` of the command line, taken apart.
struct Assignment {
  std::string table;
  std::string key;
  std::string value;
};
Assignment assignment_in(const std::string& argument);

/// The options of one entry of a catalog with what the command line sets of them, as `key=value` or
/// `name.key=value`. Throws Error{usage}.
base::Settings settings_of(std::string_view name, std::span<const base::Option> options,
                           const std::vector<std::string>& set);

}  // namespace parajoule::cli
