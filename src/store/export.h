#pragma once

// A record for other programs: CSV, one text a table, or JSON, one for all (docs/record.md). Both
// are UTF-8 and the same in every locale; bytes of a record that are none become U+FFFD.

#include <iosfwd>
#include <span>
#include <string_view>

#include "store/reader.h"

namespace parajoule::store {

/// The tables of a record in the order of docs/record.md.
std::span<const std::string_view> tables();

/// A line of column names and one for each row, quoted by RFC 4180, ended by a line feed. NULL and
/// what is not a number are empty. Throws Error{usage} that names the tables if it is none of them,
/// and Error{environment} if `out` takes no more.
void export_csv(const Reader& record, std::string_view table, std::ostream& out);

/// `{"format": "parajoule record", "version": 1, "run": {...}, "setting": [...], ...}`, every row
/// an object with the columns as keys. NULL, what is not a number and infinity are null. Throws as
/// above.
void export_json(const Reader& record, std::ostream& out);

}  // namespace parajoule::store
