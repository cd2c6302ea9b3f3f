#pragma once

// A page as one HTML file that loads nothing, and as Markdown; a table as CSV.

#include <iosfwd>

#include "report/page.h"

namespace parajoule::report {

void write_html(const Page& page, std::ostream& out);
void write_markdown(const Page& page, std::ostream& out);

/// RFC 4180 with a line of column names; a column with a spread is followed by NAME_half_width_95.
/// A dash and a dagger, which are for the eye, are left out.
void write_csv(const Table& table, std::ostream& out);

/// Text between tags and in attributes; bytes that steer a browser become harmless.
std::string escaped(std::string_view text);

}  // namespace parajoule::report
