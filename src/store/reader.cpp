#include "store/reader.h"

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "store/insert.h"
#include "store/open_record.h"
#include "store/process.h"
#include "store/schema.h"

namespace parajoule::store {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  throw base::Error(base::Fault::input, fmt::format("'{}' {}", file.string(), why));
}

// The columns of ours that `table` holds as plain stored values. A view, a virtual table or a
// computed column could make reading it run for ever.
template <class Row>
bool has_table(const Database& database) {
  Statement table(database,
                  "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ? AND "
                  "rootpage > 0");
  table.bind(0, Table<Row>::name);
  std::int64_t tables = 0;
  if (table.next()) table.read(0, tables);
  if (tables != 1) return false;
  Statement column(database,
                   "SELECT count(*) FROM pragma_table_xinfo(?) WHERE name = ? AND hidden = 0");
  return std::ranges::all_of(Table<Row>::columns, [&](std::string_view name) {
    column.bind(0, Table<Row>::name);
    column.bind(1, name);
    std::int64_t columns = 0;
    if (column.next()) column.read(0, columns);
    column.reset();
    return columns == 1;
  });
}

template <class... Rows>
struct Tables {
  static bool all_in(const Database& database) { return (has_table<Rows>(database) && ...); }
};

void require_record(const Database& database) {
  const std::filesystem::path& file = database.called();
  const std::int64_t found = database.whole("PRAGMA user_version");
  const bool has_run = has_table<Run>(database);
  if (has_run && found > version)
    refuse(file, fmt::format("is a record of version {} and this program reads versions up to {}: "
                             "use the parajoule that wrote it, or a later one",
                             found, version));
  if (!has_run || found < 1)
    refuse(file, "is not a record of a run: an SQLite file of another kind");
  if (!EachTable<Tables>::all_in(database))
    refuse(file, "is not a sound record: tables or columns are missing");
}

}  // namespace

Reader::Reader(const std::filesystem::path& file,
               const std::function<FileSystem(const std::filesystem::path&)>& on)
    : path_(file), record_(std::make_unique<OpenRecord>(file, on)) {
  require_record(record_->database());
  const std::vector<Run> runs = rows<Run>();
  if (runs.size() != 1)
    refuse(file, fmt::format("is not a sound record: it holds {} runs", runs.size()));
  run_ = runs.front();
  if (record_->recovering() && standing() == Standing::killed) clear_up();
}

Reader::Reader(Reader&& other) noexcept = default;
Reader::~Reader() = default;

// What the killed writer could not do: leave a file that stands alone.
void Reader::clear_up() const {
  try {
    record_->database().text("PRAGMA journal_mode = DELETE");
  } catch (const DatabaseError&) {
    // Another reader is at it, or the disk is full: the record can be read all the same.
  }
}

template <class Row>
void Reader::each(const std::function<void(const Row&)>& visit) const {
  Statement statement(record_->database(),
                      fmt::format("SELECT {} FROM {}", columns_of<Row>(), Table<Row>::name));
  Row row{};
  while (statement.next()) {
    int column = 0;
    std::apply([&](auto&... field) { (statement.read(column++, field), ...); },
               Table<Row>::fields(row));
    visit(row);
  }
}

template <class Row>
std::vector<Row> Reader::rows() const {
  std::vector<Row> all;
  each<Row>([&](const Row& row) { all.push_back(row); });
  return all;
}

std::optional<std::string> Reader::setting(std::string_view key) const {
  Statement statement(record_->database(), "SELECT value FROM setting WHERE key = ?");
  statement.bind(0, key);
  if (!statement.next()) return {};
  std::string value;
  statement.read(0, value);
  return value;
}

Standing Reader::standing() const {
  if (run_.state != State::running) return Standing(int(run_.state));
  switch (life_of(setting("process").value_or(""))) {
    case Life::alive:
      return Standing::running;
    case Life::gone:
      return Standing::killed;
    case Life::elsewhere:
      return Standing::unknown;
  }
  return Standing::unknown;
}

base::Seconds Reader::last_seconds() const {
  double last = 0;
  Statement statement(record_->database(),
                      "SELECT max(seconds) FROM reading UNION ALL SELECT max(seconds) FROM step "
                      "UNION ALL SELECT max(seconds) FROM epoch UNION ALL SELECT max(seconds) FROM "
                      "note UNION ALL SELECT max(end_seconds) FROM phase");
  while (statement.next()) {
    double seconds = 0;
    statement.read(0, seconds);
    if (std::isfinite(seconds)) last = std::max(last, seconds);
  }
  return base::Seconds(last);
}

template void Reader::each(const std::function<void(const Run&)>&) const;
template void Reader::each(const std::function<void(const Setting&)>&) const;
template void Reader::each(const std::function<void(const Node&)>&) const;
template void Reader::each(const std::function<void(const Source&)>&) const;
template void Reader::each(const std::function<void(const Reading&)>&) const;
template void Reader::each(const std::function<void(const Phase&)>&) const;
template void Reader::each(const std::function<void(const Step&)>&) const;
template void Reader::each(const std::function<void(const Epoch&)>&) const;
template void Reader::each(const std::function<void(const Note&)>&) const;
template std::vector<Run> Reader::rows() const;
template std::vector<Setting> Reader::rows() const;
template std::vector<Node> Reader::rows() const;
template std::vector<Source> Reader::rows() const;
template std::vector<Reading> Reader::rows() const;
template std::vector<Phase> Reader::rows() const;
template std::vector<Step> Reader::rows() const;
template std::vector<Epoch> Reader::rows() const;
template std::vector<Note> Reader::rows() const;

}  // namespace parajoule::store
