#include "store/database.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

namespace parajoule::store {
namespace {

constexpr int longest_text = 16 << 20;  // bytes; a file that asks for more is not ours
constexpr std::int64_t most_counted = std::int64_t(1) << 53;  // what a double holds exactly
constexpr int patience_milliseconds = 5000;

bool out_of_space(int code, int system) {
  return code == SQLITE_FULL || system == ENOSPC || system == EDQUOT || system == EFBIG;
}

// The errno of a failure that the system told SQLite of, else 0. SQLite keeps it when it opens
// files; of reads and writes it is still in errno.
int system_error(sqlite3* handle, int code) {
  const int last = errno;
  const int kept = handle ? sqlite3_system_errno(handle) : 0;
  return kept == 0 && code == SQLITE_IOERR ? last : kept;
}

// What went wrong in words of the system, where it has any.
std::string reason(sqlite3* handle, int code) {
  const int system = system_error(handle, code);
  if (system != 0 && code != SQLITE_FULL) return strerror(system);
  if (handle && sqlite3_errcode(handle) == code) return sqlite3_errmsg(handle);
  return sqlite3_errstr(code);
}

DatabaseError writing_failed(const std::string& file, sqlite3* handle, int code) {
  using base::Fault;
  const int system = system_error(handle, code);
  const std::string why = reason(handle, code);
  if (out_of_space(code, system))
    return {Fault::environment,
            fmt::format("cannot write the record '{}': {}; make room there, or keep records "
                        "elsewhere with the key `records` or PARAJOULE_RECORDS",
                        file, code == SQLITE_FULL ? "no space left" : why),
            SQLITE_FULL};
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
    return {Fault::environment,
            fmt::format("cannot write the record '{}': another process has locked it; end it, or "
                        "keep records elsewhere with the key `records` or PARAJOULE_RECORDS",
                        file),
            SQLITE_BUSY};
  const bool ours = code == SQLITE_CONSTRAINT || code == SQLITE_MISUSE || code == SQLITE_RANGE ||
                    code == SQLITE_ERROR || code == SQLITE_MISMATCH;
  return {ours ? Fault::bug : Fault::environment,
          fmt::format("cannot write the record '{}': {}", file, why), code};
}

DatabaseError reading_failed(const std::string& file, sqlite3* handle, int code) {
  using base::Fault;
  const std::string why = reason(handle, code);
  if (code == SQLITE_NOTADB)
    return {Fault::input, fmt::format("'{}' is not a record of a run: no SQLite file", file), code};
  if (code == SQLITE_CORRUPT)
    return {Fault::input,
            fmt::format("the record '{0}' is damaged ({1}); `sqlite3 '{0}' .recover` saves what "
                        "can be read",
                        file, why),
            code};
  const bool theirs = code == SQLITE_ERROR || code == SQLITE_TOOBIG || code == SQLITE_MISMATCH ||
                      code == SQLITE_CONSTRAINT || code == SQLITE_FORMAT;
  return {theirs ? Fault::input : Fault::environment,
          fmt::format("cannot read the record '{}': {}", file, why), code};
}

void make_file(const std::filesystem::path& file) {
  const int made = ::open(file.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (made < 0)
    throw DatabaseError(
        base::Fault::environment,
        fmt::format("cannot make the record '{}': {}", file.string(), strerror(errno)),
        errno == EEXIST ? SQLITE_CONSTRAINT : SQLITE_CANTOPEN);
  ::close(made);
}

// A file name as SQLite's URI: what is not plain is written as %xx.
std::string still_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(file).string()) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

// A file may come from anyone: nothing in it may run code, and no size in it is believed.
void distrust(sqlite3* handle) {
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_text);
}

}  // namespace

bool DatabaseError::busy() const { return code == SQLITE_BUSY || code == SQLITE_LOCKED; }

Database::Database(const std::filesystem::path& file, const Options& options)
    : called_(options.called.empty() ? file : options.called), access_(options.access) {
  if (access_ == Access::create) make_file(file);
  const bool writes = access_ == Access::create || access_ == Access::write;
  const int flags = (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX |
                    SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_URI;
  const std::string name =
      access_ == Access::still ? still_uri(file) : std::filesystem::absolute(file).string();
  const int code = sqlite3_open_v2(name.c_str(), &handle_, flags, nullptr);
  try {
    check(code);
    distrust(handle_);
    check(sqlite3_busy_timeout(handle_, patience_milliseconds));
    run("PRAGMA cell_size_check = ON");
  } catch (...) {
    sqlite3_close(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::run(const std::string& sql) const {
  check(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr));
}

std::int64_t Database::whole(std::string_view sql) const {
  Statement statement(*this, sql);
  std::int64_t value = 0;
  if (statement.next()) statement.read(0, value);
  return value;
}

std::string Database::text(std::string_view sql) const {
  Statement statement(*this, sql);
  std::string value;
  if (statement.next()) statement.read(0, value);
  return value;
}

void Database::roll_back() const noexcept {
  if (!sqlite3_get_autocommit(handle_))
    sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::check(int code) const {
  code &= 0xff;  // the primary one of an extended code
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const bool writes = access_ == Access::create || access_ == Access::write;
  throw writes ? writing_failed(called_.string(), handle_, code)
               : reading_failed(called_.string(), handle_, code);
}

Statement::Statement(const Database& database, std::string_view sql) : database_(&database) {
  database_->check(
      sqlite3_prepare_v2(database.handle(), sql.data(), int(sql.size()), &statement_, nullptr));
}

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int code) const { database_->check(code); }

void Statement::bind(int place, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, place + 1, value));
}

void Statement::bind(int place, double value) {
  check(sqlite3_bind_double(statement_, place + 1, value));
}

void Statement::bind(int place, std::string_view value) {
  check(sqlite3_bind_text64(statement_, place + 1, value.data() ? value.data() : "", value.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
}

void Statement::bind_null(int place) { check(sqlite3_bind_null(statement_, place + 1)); }

bool Statement::next() {
  const int code = sqlite3_step(statement_);
  check(code);
  return (code & 0xff) == SQLITE_ROW;
}

void Statement::reset() { sqlite3_reset(statement_); }  // tells once more what `next` told

void Statement::run() {
  next();
  reset();
}

bool Statement::null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

void Statement::refuse(int column, std::string_view why) const {
  throw base::Error(
      base::Fault::input,
      fmt::format("the record '{}' is not sound: {} in column '{}'", database_->called().string(),
                  why, sqlite3_column_name(statement_, column)));
}

void Statement::read(int column, std::int64_t& value) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) refuse(column, "no whole number");
  value = sqlite3_column_int64(statement_, column);
  if (value < 0 || value > most_counted) refuse(column, "a number out of range");
}

void Statement::read(int column, int& value) const {
  std::int64_t wide = 0;
  read(column, wide);
  if (wide > std::numeric_limits<int>::max()) refuse(column, "a number out of range");
  value = int(wide);
}

void Statement::read(int column, double& value) const {
  const int type = sqlite3_column_type(statement_, column);
  if (type == SQLITE_NULL) return void(value = std::numeric_limits<double>::quiet_NaN());
  if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) refuse(column, "no number");
  value = sqlite3_column_double(statement_, column);
}

void Statement::read(int column, std::string& value) const {
  if (sqlite3_column_type(statement_, column) != SQLITE_TEXT) refuse(column, "no text");
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (!text) throw std::bad_alloc();
  value.assign(text, std::size_t(sqlite3_column_bytes(statement_, column)));
}

void Statement::read(int column, base::Seconds& value) const {
  double seconds = 0;
  read(column, seconds);
  if (!std::isfinite(seconds)) refuse(column, "no moment");
  value = base::Seconds(seconds);
}

}  // namespace parajoule::store
