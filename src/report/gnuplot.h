#pragma once

// Figures drawn by gnuplot, as SVG for the page and PNG for slides.

#include <filesystem>
#include <span>
#include <string>

#include "report/page.h"

namespace parajoule::report {

/// Writes `folder`/ID.svg and ID.png of every figure that has marks and fills in `svg`. One gnuplot
/// draws them all. Gives why there are none, in one line: gnuplot is missing, or what it said;
/// empty if all went well. Throws Error{environment} if the folder cannot be written to.
std::string draw(std::span<Figure* const> figures, const std::filesystem::path& folder);

/// What gnuplot is told, for one figure in one format. Names cannot leave their quotes.
std::string script_of(const Figure& figure, const std::string& terminal, const std::string& file);

}  // namespace parajoule::report
