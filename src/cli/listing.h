#pragma once

// Commands that list a catalog, or explain one entry of it.

#include <string>
#include <string_view>
#include <vector>

#include "cli/commands.h"
#include "cli/keys.h"

namespace parajoule::cli {

struct Listing {
  std::string command;
  std::string help;
  std::string key;  ///< of the experiment file that takes the names
  std::vector<Alternative> entries;
};

void add_listing(CLI::App& app, Chosen& chosen, const Listing& listing);

/// All entries, a line each.
std::string list_of(const std::vector<Alternative>& entries);

/// One entry with its options, as they stand in an experiment file.
std::string explained(const Alternative& entry, std::string_view key);

}  // namespace parajoule::cli
