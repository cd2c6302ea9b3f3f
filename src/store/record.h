#pragma once

// Writes the record of one run, as the run goes: one SQLite file (docs/record.md).

#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "base/quantity.h"
#include "store/file_system.h"
#include "store/rows.h"
#include "store/tables.h"

namespace parajoule::store {

class Database;

/// The record of one run while it goes on. Rows are queued by `add`, which never waits for the
/// disk, and written by a thread of the record's own, three times a second: a run killed with
/// SIGKILL keeps what was added until a third of a second before. Any thread may call any member;
/// one thread calls `finish`.
///
/// On a local file system SQLite's write-ahead log is used, and cleared away at the end. On others
/// it would break, so there the record has a rollback journal or, where file locks do not work,
/// lies on a local disk until it is finished; either is told in `remarks()` and in a note row.
class Record {
 public:
  struct Options {
    std::filesystem::path folder = "records";  ///< made if it is not there
    std::string name;                          ///< of the experiment; any text
    Kind kind = Kind::run;
    std::string version;  ///< of this program
    std::string command;  ///< as typed, quoted for a shell

    /// Of a record that holds the rows of one node, to be merged: the id of the run and the node.
    struct Part {
      std::string id;
      int node;
    };
    std::optional<Part> part = {};

    std::function<FileSystem(const std::filesystem::path&)> file_system = store::file_system;
    std::filesystem::path local = {};  ///< folder on a local disk; empty: TMPDIR
    base::Seconds write_every{0.3};
  };

  /// Creates the file with its tables and its `run` row; they are on disk when this returns.
  /// Throws Error{environment} that names the folder if it cannot be made or written to.
  explicit Record(const Options& options);

  /// A record that was not finished is one of a run that threw: it is closed as failed.
  ~Record();

  const std::string& id() const { return run_.id; }
  const std::string& started_utc() const { return run_.started_utc; }

  /// Where the record lies once it is finished: an absolute path without links.
  const std::filesystem::path& path() const { return path_; }

  /// What the user should be told about how the record is kept; usually nothing.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// Seconds since the record was opened, by the clock of its rows.
  base::Seconds now() const;
  std::chrono::steady_clock::time_point start() const { return start_; }

  /// Rows to be written. A source must have been added before its readings, a node before its
  /// sources. Throws, once each time, what kept earlier rows from being written, for instance
  /// Error{environment} on a full disk; they are kept and tried again, so a caller may go on.
  void add(Setting row);
  void add(Node row);
  void add(Source row);
  void add(Phase row);
  void add(Step row);
  void add(Epoch row);
  void add(Note row);
  void add(std::span<const Reading> rows);
  void add(std::span<const Phase> rows);

  /// Returns when everything added so far is in the file: at the end of phases and epochs.
  /// Throws like `add`. While another process holds the file, rows stay queued without an error.
  void write();

  /// The last call: writes what is left, the state the run ended in and a note that says why, and
  /// closes the file, which then stands alone. Throws like `add`; everything written is readable.
  /// Also throws Error{environment} if somebody removed the file meanwhile.
  void finish(State state, std::string_view why = {});

  /// After a `finish` that threw: the whole record, the rows that could not be written included, in
  /// another folder, where `path()` then is. What is left of the former file goes. Throws like the
  /// constructor.
  void rescue(const std::filesystem::path& folder);

 private:
  template <class... Rows>
  using Queues = std::tuple<std::vector<Rows>...>;

  void open(const FileSystem& on);
  void choose_journal(const FileSystem& on);
  template <class Row>
  void queue(std::span<const Row> rows);
  void admit(const Setting&) {}
  void admit(const Node& row);
  void admit(const Source& row);
  void admit(const Reading& row);
  void admit(const Phase& row);
  void admit(const Step&) {}
  void admit(const Epoch&) {}
  void admit(const Note& row);
  void write_regularly(base::Seconds period);
  void write_queued();
  void write_last();
  void require_file() const;
  void copy_into(const std::filesystem::path& spare);
  void stand_alone();

  Run run_;
  std::filesystem::path path_;
  std::filesystem::path written_to_;  ///< another one while the record lies on a local disk
  std::vector<std::string> remarks_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();

  std::mutex database_mutex_;  ///< taken before mutex_, never while holding it
  std::unique_ptr<Database> database_;

  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_;
  EachTable<Queues> queued_;
  std::set<int> nodes_;
  std::set<int> sources_;
  std::exception_ptr failure_;
  bool finished_ = false;

  std::thread writer_;
};

}  // namespace parajoule::store
