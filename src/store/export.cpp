#include "store/export.h"

#include <array>
#include <cmath>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/nearest.h"
#include "store/csv.h"
#include "store/schema.h"
#include "store/tables.h"
#include "store/utf8.h"

namespace parajoule::store {
namespace {

template <class... Rows>
struct Names {
  static constexpr std::array all = {Table<Run>::name, Table<Rows>::name...};
};

// Calls `visit` with an example of the row of `table`; says whether there is such a table.
template <class... Rows>
struct Find {
  static bool table(std::string_view name, const auto& visit) {
    const auto fits = [&]<class Row>(Row row) {
      if (name != Table<Row>::name) return false;
      visit(row);
      return true;
    };
    return fits(Run{}) || (fits(Rows{}) || ...);
  }
};

void require_room(const std::ostream& out) {
  if (!out)
    throw base::Error(base::Fault::environment,
                      "cannot write the export: the file or pipe takes no more");
}

/// An empty text is not the same as none.
std::string csv_cell(std::string_view text) { return text.empty() ? "\"\"" : csv_text(text); }
std::string csv_cell(const std::string& text) { return csv_cell(std::string_view(text)); }
std::string csv_cell(std::int64_t value) { return fmt::format("{}", value); }
std::string csv_cell(int value) { return fmt::format("{}", value); }
std::string csv_cell(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }
std::string csv_cell(base::Seconds value) { return csv_cell(value.count()); }
template <class Word>
  requires std::is_enum_v<Word>
std::string csv_cell(Word word) {
  return csv_cell(text_of(word));
}
template <class Value>
std::string csv_cell(const std::optional<Value>& value) {
  return value ? csv_cell(*value) : std::string();
}

nlohmann::json json_value(const std::string& text) { return text; }
nlohmann::json json_value(std::int64_t value) { return value; }
nlohmann::json json_value(int value) { return value; }
nlohmann::json json_value(double value) { return value; }
nlohmann::json json_value(base::Seconds value) { return value.count(); }
template <class Word>
  requires std::is_enum_v<Word>
nlohmann::json json_value(Word word) {
  return text_of(word);
}
template <class Value>
nlohmann::json json_value(const std::optional<Value>& value) {
  return value ? json_value(*value) : nlohmann::json(nullptr);
}

template <class Row>
std::string csv_row(const Row& row) {
  std::string line;
  std::apply([&](const auto&... field) { ((line += csv_cell(field) + ","), ...); },
             Table<Row>::fields(row));
  line.back() = '\n';
  return line;
}

template <class Row>
std::string json_row(const Row& row) {
  nlohmann::ordered_json object;
  std::size_t column = 0;
  std::apply(
      [&](const auto&... field) {
        ((object[Table<Row>::columns[column++]] = json_value(field)), ...);
      },
      Table<Row>::fields(row));
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <class Row>
void json_table(const Reader& record, std::ostream& out) {
  out << ",\n\"" << Table<Row>::name << "\": [";
  const char* between = "\n";
  record.each<Row>([&](const Row& row) {
    out << between << json_row(row);
    between = ",\n";
    require_room(out);
  });
  out << "]";
}

template <class... Rows>
struct JsonTables {
  static void write(const Reader& record, std::ostream& out) {
    (json_table<Rows>(record, out), ...);
  }
};

}  // namespace

std::span<const std::string_view> tables() { return EachTable<Names>::all; }

void export_csv(const Reader& record, std::string_view table, std::ostream& out) {
  const bool known = EachTable<Find>::table(table, [&]<class Row>(const Row&) {
    std::string heading;
    for (const char* column : Table<Row>::columns)
      heading += csv_cell(std::string_view(column)) + ",";
    heading.back() = '\n';
    out << heading;
    record.each<Row>([&](const Row& row) {
      out << csv_row(row);
      require_room(out);
    });
  });
  if (!known)
    throw base::Error(base::Fault::usage, fmt::format("a record has no table '{}'{}", table,
                                                      base::hint(table, tables())));
  require_room(out.flush());
}

void export_json(const Reader& record, std::ostream& out) {
  out << "{\"format\": \"parajoule record\",\n\"version\": " << version
      << ",\n\"run\": " << json_row(record.run());
  EachTable<JsonTables>::write(record, out);
  out << "\n}\n";
  require_room(out.flush());
}

}  // namespace parajoule::store
