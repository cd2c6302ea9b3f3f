#include "store/open_record.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include "store/file_name.h"

namespace parajoule::store {
namespace {

using std::filesystem::path;

path beside(const path& file, const char* suffix) {
  path name = file;
  return name += suffix;
}

bool holds_something(const path& file) {
  std::error_code absent;
  return std::filesystem::file_size(file, absent) > 0 && !absent;
}

// Bytes 18 and 19 of an SQLite file are 2 while it is used with a write-ahead log
// (sqlite.org/fileformat2.html, 1.3).
bool uses_log(const path& file) {
  char header[20] = {};
  std::ifstream(file, std::ios::binary).read(header, sizeof header);
  return header[18] == 2 || header[19] == 2;
}

bool left_open(const path& file) {
  return uses_log(file) || holds_something(beside(file, "-wal")) ||
         holds_something(beside(file, "-journal"));
}

bool may_change(const path& file) {
  return access(file.c_str(), W_OK) == 0 && access(file.parent_path().c_str(), W_OK) == 0;
}

// What a folder or disk that takes nothing more answers; a copy elsewhere may still be read.
bool stands_in_the_way(int code) {
  return code == SQLITE_CANTOPEN || code == SQLITE_READONLY || code == SQLITE_PERM ||
         code == SQLITE_FULL || code == SQLITE_IOERR;
}

void require_file(const path& file, const path& called) {
  std::error_code failed;
  const auto status = std::filesystem::status(file, failed);
  if (status.type() == std::filesystem::file_type::not_found)
    throw base::Error(base::Fault::input, fmt::format("there is no record '{}'", called.string()));
  if (status.type() != std::filesystem::file_type::regular)
    throw base::Error(base::Fault::input,
                      fmt::format("'{}' is not a record of a run: no plain file", called.string()));
}

}  // namespace

OpenRecord::OpenRecord(const path& given, const std::function<FileSystem(const path&)>& on) {
  const path file = std::filesystem::absolute(given);
  require_file(file, given);
  const bool left = left_open(file);
  // On other file systems a writer that lives may look like one that died, and recovering the file
  // under it would destroy it.
  const bool here = left && may_change(file) && on(file.parent_path()).shared_memory;
  try {
    open(file, here ? Database::Access::write : Database::Access::read, given);
    recovering_ = here;
  } catch (const DatabaseError& error) {
    if (!stands_in_the_way(error.code)) throw;
    if (left)
      open_copy(file);
    else
      open(file, Database::Access::still, given);
  }
}

OpenRecord::Folder::~Folder() {
  std::error_code nothing;
  if (!path.empty()) std::filesystem::remove_all(path, nothing);
}

void OpenRecord::open(const path& file, Database::Access access, const path& called) {
  database_ =
      std::make_unique<Database>(file, Database::Options{.access = access, .called = called});
  database_->whole("SELECT count(*) FROM sqlite_master");  // SQLite looks at the file only now
}

void OpenRecord::open_copy(const path& file) {
  database_.reset();
  std::string folder = temporary_folder() / "parajoule-record-XXXXXX";
  if (!mkdtemp(folder.data()))
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot make a folder '{}' to recover the record in: {}", folder,
                                  strerror(errno)));
  copy_.path = folder;
  const path copy = copy_.path / "record.db";
  try {
    std::filesystem::copy_file(file, copy);
    for (const char* suffix : {"-wal", "-journal"})
      if (holds_something(beside(file, suffix)))
        std::filesystem::copy_file(beside(file, suffix), beside(copy, suffix));
  } catch (const std::filesystem::filesystem_error& error) {
    throw base::Error(base::Fault::environment,
                      fmt::format("cannot copy the record '{}' to recover it in '{}': {}",
                                  file.string(), folder, error.code().message()));
  }
  std::filesystem::permissions(copy, std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  open(copy, Database::Access::write, file);
}

}  // namespace parajoule::store
