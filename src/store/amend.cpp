#include "store/amend.h"

#include <span>

#include <fmt/format.h>

#include "base/error.h"
#include "store/database.h"
#include "store/insert.h"
#include "store/reader.h"

namespace parajoule::store {
namespace {

template <class Row>
void insert_all(const Database& database, const std::vector<Row>& rows) {
  insert<Row>(database, std::span<const Row>(rows));
}

}  // namespace

void amend(const std::filesystem::path& file, const Amendment& amendment) {
  const Standing standing = Reader(file).standing();  // clears up what a killed writer left
  if (standing == Standing::running || standing == Standing::unknown)
    throw base::Error(
        base::Fault::usage,
        fmt::format("'{}' is the record of a run that is still going on: wait for its "
                    "end",
                    file.string()));
  const Database database(file, {.access = Database::Access::write});
  try {
    database.run("PRAGMA foreign_keys = ON; BEGIN IMMEDIATE");
    insert_all(database, amendment.settings);
    insert_all(database, amendment.sources);
    insert_all(database, amendment.readings);
    insert_all(database, amendment.notes);
    database.run("COMMIT");
  } catch (...) {
    database.roll_back();
    throw;
  }
}

}  // namespace parajoule::store
