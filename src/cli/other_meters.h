#pragma once

// Meters that no machine finds by itself: a management controller in the network, the outlet that
// feeds the node, the file of a wall meter. They are named on the command line or in a TOML file.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "meter/open.h"

namespace parajoule::cli {

struct OtherMeters {
  std::string file = {};         ///< of TOML; empty: PARAJOULE_METERS, else none
  std::string redfish = {};      ///< `https://HOST`
  std::string credentials = {};  ///< of that
  std::vector<std::string> wall = {};
};

/// `--meters`, `--redfish` and `--credentials`; those that keep a record have `--wall` too.
enum class WallFiles { taken, none };
void add_other_meters(CLI::App& app, OtherMeters& meters, WallFiles wall);

struct NamedMeters {
  meter::Options sources = {};  ///< of this machine, with what was named and what `sensors` found
  std::vector<std::filesystem::path> wall = {};
};

/// `{host}` in any of the texts stands for the name of this node up to its first point. Throws
/// Error{usage} or Error{input} that names file, line and key.
NamedMeters named_meters(const OtherMeters& meters);

/// The same of the text of such a file, which lies in `folder`.
NamedMeters meters_in(std::string_view toml, const std::filesystem::path& file,
                      std::string_view host);

/// Where what `sensors` finds of this machine's update periods is kept: in XDG_CACHE_HOME, else in
/// .cache of HOME, under the node's name. Empty where there is neither.
std::filesystem::path periods_file();

}  // namespace parajoule::cli
