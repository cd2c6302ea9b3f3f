#pragma once

// The tables of a record, as SQL: the format other programs may build on (docs/record.md).

namespace parajoule::store {

/// `PRAGMA user_version` of the records this program writes, and the highest it reads.
inline constexpr int version = 1;

/// Creates all tables and sets the version.
extern const char* const schema;

}  // namespace parajoule::store
