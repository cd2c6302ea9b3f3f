#pragma once

// Rows into their table.

#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "store/database.h"
#include "store/tables.h"

namespace parajoule::store {

/// Column names as SQL wants them, with commas between: one of ours is one of its words.
template <class Row>
std::string columns_of() {
  return fmt::format("\"{}\"", fmt::join(Table<Row>::columns, "\",\""));
}

/// Adds `rows` at the end of their table. A setting that is there already is replaced.
template <class Row>
void insert(const Database& database, std::span<const Row> rows) {
  if (rows.empty()) return;
  constexpr std::size_t count = Table<Row>::columns.size();
  std::string places = "?";
  for (std::size_t column = 1; column < count; ++column) places += ",?";
  Statement statement(database, fmt::format("INSERT {}INTO {}({}) VALUES({})",
                                            std::is_same_v<Row, Setting> ? "OR REPLACE " : "",
                                            Table<Row>::name, columns_of<Row>(), places));
  for (const Row& row : rows) {
    int place = 0;
    std::apply([&](const auto&... field) { (statement.bind(place++, field), ...); },
               Table<Row>::fields(row));
    statement.run();
  }
}

}  // namespace parajoule::store
