#pragma once

// The ways to a record's content: as it lies there, recovered, or in a copy.

#include <filesystem>
#include <functional>
#include <memory>

#include "store/database.h"
#include "store/file_system.h"

namespace parajoule::store {

/// A record that can be read, and the folder of its copy if it had to be copied. The copy is
/// removed with it.
class OpenRecord {
 public:
  /// Throws as `Reader` does.
  OpenRecord(const std::filesystem::path& file,
             const std::function<FileSystem(const std::filesystem::path&)>& on);

  const Database& database() const { return *database_; }
  /// Whether the file itself is open for writing, because a writer left something to clear away.
  bool recovering() const { return recovering_; }

 private:
  void open(const std::filesystem::path& file, Database::Access access,
            const std::filesystem::path& called);
  void open_copy(const std::filesystem::path& file);

  /// A folder that is gone with its owner; usually there is none.
  struct Folder {
    std::filesystem::path path = {};
    Folder() = default;
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder();
  };

  Folder copy_;  ///< outlives the database in it
  std::unique_ptr<Database> database_;
  bool recovering_ = false;
};

}  // namespace parajoule::store
