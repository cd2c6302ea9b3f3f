#pragma once

// Reads a record: of a finished run, of one that was killed, or of one that is still going on.

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/file_system.h"
#include "store/rows.h"

namespace parajoule::store {

class OpenRecord;

/// How a run stands, which its record alone need not know: the state of a run that was killed still
/// says `running`.
enum class Standing {
  running = 1,
  done,
  stopped,
  failed,
  killed,   ///< says it runs, but its process is gone
  unknown,  ///< says it runs on another machine: look at `last_seconds`
};

/// One record, open for reading. What a killed writer left is recovered; where the folder cannot be
/// written to, in a copy.
class Reader {
 public:
  /// Throws Error{input} in one line if the file is not there, is no record, is damaged, or is of a
  /// later version than this program knows (naming both); Error{environment} if it may not be read.
  explicit Reader(const std::filesystem::path& file,
                  const std::function<FileSystem(const std::filesystem::path&)>& on = file_system);
  ~Reader();
  Reader(Reader&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  const Run& run() const { return run_; }
  Standing standing() const;

  /// The latest moment any row speaks of; zero without rows.
  base::Seconds last_seconds() const;

  /// All rows of a table in the order in which they were written: Setting, Node, Source, Reading,
  /// Phase, Step, Epoch or Note. Throws Error{input} if a row is not sound.
  template <class Row>
  std::vector<Row> rows() const;

  /// The same without holding them all: a long run has tens of millions of readings.
  template <class Row>
  void each(const std::function<void(const Row&)>& visit) const;

  /// The value of a setting, if it has one.
  std::optional<std::string> setting(std::string_view key) const;

 private:
  void clear_up() const;

  std::filesystem::path path_;
  std::unique_ptr<OpenRecord> record_;
  Run run_;
};

}  // namespace parajoule::store
