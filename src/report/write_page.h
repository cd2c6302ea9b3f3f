#pragma once

// A page into a folder: index.html, summary.md, tables/ID.csv, figures/ID.svg and .png.

#include <filesystem>
#include <string>

#include "report/page.h"

namespace parajoule::report {

/// Replaces what a former report left under the same names. Gives a line on what was left out, if
/// anything was. Throws Error{environment} that names the file that cannot be written.
std::string write_page(Page& page, const std::filesystem::path& folder);

}  // namespace parajoule::report
