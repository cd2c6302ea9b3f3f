#pragma once

// What records need of SQLite: a connection and a statement that close themselves, and failures as
// errors that name the file and the way out.

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/quantity.h"
#include "store/tables.h"

struct sqlite3;
struct sqlite3_stmt;

namespace parajoule::store {

/// A failure with the code SQLite gave it, for whoever can do something about it.
class DatabaseError : public base::Error {
 public:
  DatabaseError(base::Fault fault, const std::string& what, int code)
      : base::Error(fault, what), code(code) {}
  const int code;  ///< SQLITE_BUSY, SQLITE_CANTOPEN ...: a primary one

  /// Another process uses the file; trying again later may help.
  bool busy() const;
};

class Database;

/// A value that does not fit the member it is read into is an Error{input}: the file is not ours.
class Statement {
 public:
  Statement(const Database& database, std::string_view sql);
  ~Statement();
  Statement(Statement&& other) noexcept;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Parameters and columns count from 0.
  void bind(int place, std::int64_t value);
  void bind(int place, double value);  ///< not a number is stored as NULL
  void bind(int place, std::string_view value);
  void bind(int place, int value) { bind(place, std::int64_t(value)); }
  void bind(int place, const std::string& value) { bind(place, std::string_view(value)); }
  void bind(int place, base::Seconds value) { bind(place, value.count()); }
  template <class Word>
    requires std::is_enum_v<Word>
  void bind(int place, Word value) {
    bind(place, text_of(value));
  }
  template <class Value>
  void bind(int place, const std::optional<Value>& value) {
    if (value) return bind(place, *value);
    bind_null(place);
  }

  /// Whether there is a row to read.
  bool next();
  /// Makes it ready to be bound and run again.
  void reset();
  /// Runs a statement that has no rows, and resets it.
  void run();

  void read(int column, std::int64_t& value) const;  ///< a count: from 0, exact in a double
  void read(int column, int& value) const;
  void read(int column, double& value) const;  ///< NULL is not a number
  void read(int column, std::string& value) const;
  void read(int column, base::Seconds& value) const;
  template <class Word>
    requires std::is_enum_v<Word>
  void read(int column, Word& value) const {
    std::string text;
    read(column, text);
    for (std::size_t word = 0; word < words<Word>.size(); ++word)
      if (words<Word>[word] == text) return void(value = Word(word + 1));
    refuse(column, "an unknown word");
  }
  template <class Value>
  void read(int column, std::optional<Value>& value) const {
    if (null(column)) return value.reset();
    read(column, value.emplace());
  }

 private:
  void bind_null(int place);
  bool null(int column) const;
  void check(int code) const;
  [[noreturn]] void refuse(int column, std::string_view why) const;

  const Database* database_;
  sqlite3_stmt* statement_ = nullptr;
};

class Database {
 public:
  enum class Access {
    create,  ///< a new file; it must not be there yet
    write,   ///< also recovers what a killed writer left
    read,    ///< changes nothing, in the file or beside it
    still,   ///< reads a file that nobody writes, in a folder where nothing can be made
  };
  struct Options {
    Access access;
    std::filesystem::path called = {};  ///< how errors name the file; empty: by its path
  };

  Database(const std::filesystem::path& file, const Options& options);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  void run(const std::string& sql) const;
  std::int64_t whole(std::string_view sql) const;  ///< first column of the first row
  std::string text(std::string_view sql) const;

  /// Undoes a transaction that failed in the middle; nothing if there is none.
  void roll_back() const noexcept;

  /// Throws what SQLite's `code` means for this file, unless it means success.
  void check(int code) const;

  sqlite3* handle() const { return handle_; }
  const std::filesystem::path& called() const { return called_; }

 private:
  std::filesystem::path called_;
  Access access_;
  sqlite3* handle_ = nullptr;
};

}  // namespace parajoule::store
