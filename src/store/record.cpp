#include "store/record.h"

#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <signal.h>

#include "base/error.h"
#include "store/database.h"
#include "store/file_name.h"
#include "store/insert.h"
#include "store/process.h"
#include "store/schema.h"

namespace parajoule::store {
namespace {

constexpr int log_pages = 250;       // 1 MiB: what a copy of the file without its log lacks at most
constexpr int tries_at_the_end = 6;  // each waits as long as SQLite's patience with other users

[[noreturn]] void refuse(const std::string& what) { throw base::Error(base::Fault::bug, what); }

// A thread that is started while the signals are held back never gets one: they go to the threads
// that expect them.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

void put_in_front(auto& queues, auto& batch) {
  const auto each = [](auto& queue, auto& rows) {
    rows.insert(rows.end(), std::make_move_iterator(queue.begin()),
                std::make_move_iterator(queue.end()));
    queue.swap(rows);
  };
  std::apply(
      [&](auto&... queue) { std::apply([&](auto&... rows) { (each(queue, rows), ...); }, batch); },
      queues);
}

}  // namespace

Record::Record(const Options& options)
    : run_{.id = options.part ? options.part->id : random_id(),
           .name = options.name,
           .kind = options.kind,
           .state = State::running,
           .started_utc = written_utc(std::chrono::system_clock::now()),
           .version = options.version,
           .command = options.command} {
  path_ = folder_of_records(options.folder) /
          (options.part ? fmt::format("{}.{}.db", run_.id, options.part->node)
                        : file_name(run_.started_utc, run_.name, run_.id));
  const FileSystem on = options.file_system(path_.parent_path());
  written_to_ = path_;
  if (!on.locks)
    written_to_ = folder_of_records(options.local.empty() ? temporary_folder() : options.local) /
                  path_.filename();
  open(on);
  const SignalsHeldBack held;
  writer_ = std::thread([this, period = options.write_every] { write_regularly(period); });
}

void Record::open(const FileSystem& on) {
  database_ = std::make_unique<Database>(
      written_to_, Database::Options{.access = Database::Access::create, .called = path_});
  try {
    choose_journal(on);
    database_->run(fmt::format("BEGIN; {}", schema));
    insert<Run>(*database_, std::span(&run_, 1));
    const Setting process{.key = "process", .value = this_process(), .origin = "record"};
    insert<Setting>(*database_, std::span(&process, 1));
    for (const std::string& remark : remarks_) {
      const Note note{.seconds = now(), .severity = Severity::note, .text = remark};
      insert<Note>(*database_, std::span(&note, 1));
    }
    database_->run("COMMIT");
  } catch (...) {
    database_.reset();
    std::error_code nothing;
    std::filesystem::remove(written_to_, nothing);
    throw;
  }
}

void Record::choose_journal(const FileSystem& on) {
  // Nothing is lost yet if the machine fails while the file is made: no waiting for the disk.
  database_->run("PRAGMA synchronous = OFF");
  const bool log = on.shared_memory || !on.locks;
  const std::string journal =
      database_->text(log ? "PRAGMA journal_mode = WAL" : "PRAGMA journal_mode = DELETE");
  database_->run(fmt::format(
      "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA wal_autocheckpoint = {}",
      log_pages));
  if (!on.locks)
    remarks_.push_back(
        fmt::format("file locks do not work in '{}' ({}): the record is written to "
                    "'{}' and moved at the end; if the run is killed, it is there",
                    path_.parent_path().string(), on.name, written_to_.string()));
  else if (journal != "wal")
    remarks_.push_back(
        fmt::format("'{}' ({}) has no shared memory for a write-ahead log: the "
                    "record is written with a rollback journal",
                    path_.parent_path().string(), on.name));
}

Record::~Record() {
  try {
    if (!finished_) finish(State::failed, "the run ended by an error");
  } catch (const std::exception&) {
    // What was written is readable, and there is nobody left to tell.
  }
}

base::Seconds Record::now() const { return std::chrono::steady_clock::now() - start_; }

void Record::add(Setting row) { queue(std::span<const Setting>(&row, 1)); }
void Record::add(Node row) { queue(std::span<const Node>(&row, 1)); }
void Record::add(Source row) { queue(std::span<const Source>(&row, 1)); }
void Record::add(Phase row) { queue(std::span<const Phase>(&row, 1)); }
void Record::add(Step row) { queue(std::span<const Step>(&row, 1)); }
void Record::add(Epoch row) { queue(std::span<const Epoch>(&row, 1)); }
void Record::add(Note row) { queue(std::span<const Note>(&row, 1)); }
void Record::add(std::span<const Reading> rows) { queue(rows); }
void Record::add(std::span<const Phase> rows) { queue(rows); }

template <class Row>
void Record::queue(std::span<const Row> rows) {
  const std::lock_guard lock(mutex_);
  base::ensure(!finished_, "nothing is added to a finished record");
  for (const Row& row : rows) admit(row);
  auto& queue = std::get<std::vector<Row>>(queued_);
  queue.insert(queue.end(), rows.begin(), rows.end());
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// What the tables would refuse is refused here, where the stack still shows whose row it is.
void Record::admit(const Node& row) { nodes_.insert(row.node); }

void Record::admit(const Source& row) {
  if (!nodes_.contains(row.node))
    refuse(fmt::format("source {} is of node {}, which was not added", row.source, row.node));
  if (text_of(row.label).empty() || text_of(row.quantity).empty() || row.covers.empty() ||
      row.unit.empty() || row.device.empty() || row.device_kind.empty())
    refuse(fmt::format("source {} ({}) lacks its label, quantity, unit, device or what it covers",
                       row.source, row.device));
  if (row.label != Label::measured && row.formula.value_or("").empty())
    refuse(fmt::format("source {} ({}) is {} without a formula", row.source, row.device,
                       text_of(row.label)));
  if (!sources_.insert(row.source).second)
    refuse(fmt::format("source {} ({}) was added twice", row.source, row.device));
}

void Record::admit(const Reading& row) {
  if (!sources_.contains(row.source))
    refuse(fmt::format("a reading is of source {}, which was not added", row.source));
  const bool caused = !row.gap.value_or("").empty();
  if (row.value.has_value() == caused || (row.gap && !caused) ||
      !std::isfinite(row.value.value_or(0)))
    refuse(fmt::format("a reading of source {} has not either a value or a cause of its absence",
                       row.source));
}

void Record::admit(const Phase& row) {
  if (!(row.end >= row.begin))
    refuse(fmt::format("phase '{}' of rank {} ends before it begins", row.name, row.rank));
}

void Record::admit(const Note& row) {
  if (text_of(row.severity).empty()) refuse(fmt::format("a note without severity: {}", row.text));
}

void Record::write_regularly(base::Seconds period) {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return finished_; })) {
    lock.unlock();
    std::exception_ptr failure;
    try {
      write_queued();
    } catch (const DatabaseError& error) {
      if (!error.busy()) failure = std::current_exception();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) failure_ = failure;
  }
}

void Record::write_queued() {
  const std::lock_guard database(database_mutex_);
  EachTable<Queues> batch;
  {
    const std::lock_guard lock(mutex_);
    std::swap(batch, queued_);
  }
  try {
    database_->run("BEGIN IMMEDIATE");
    std::apply([this](const auto&... rows) { (insert(*database_, std::span(rows)), ...); }, batch);
    database_->run("COMMIT");
  } catch (...) {
    database_->roll_back();
    const std::lock_guard lock(mutex_);
    put_in_front(queued_, batch);
    throw;
  }
}

void Record::write() {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  try {
    write_queued();
  } catch (const DatabaseError& error) {
    if (!error.busy()) throw;
  }
}

void Record::finish(State state, std::string_view why) {
  base::ensure(state != State::running, "a run ends done, stopped or failed");
  {
    const std::lock_guard lock(mutex_);
    base::ensure(!finished_, "a record is finished once");
    finished_ = true;
    const std::string text =
        why.empty() ? std::string(text_of(state)) : fmt::format("{}: {}", text_of(state), why);
    std::get<std::vector<Note>>(queued_).push_back(
        {.seconds = now(),

         .severity = state == State::failed ? Severity::error : Severity::note,
         .text = text});
  }
  wake_.notify_all();
  writer_.join();
  run_.state = state;
  require_file();
  write_last();
  stand_alone();
  database_.reset();
  if (written_to_ != path_) move_file(written_to_, path_);
}

// SQLite goes on in a file without a name, which is gone when it is closed.
void Record::require_file() const {
  std::error_code failed;
  if (!std::filesystem::exists(written_to_, failed))
    throw base::Error(base::Fault::environment,
                      fmt::format("the record '{}' was removed during the run", path_.string()));
}

/// A copy for which there is no room is taken away again.
void Record::copy_into(const std::filesystem::path& spare) {
  std::error_code nothing;
  if (std::filesystem::exists(spare, nothing))
    throw base::Error(base::Fault::environment,
                      fmt::format("there is a file '{}' already", spare.string()));
  try {
    Statement copy(*database_, "VACUUM INTO ?");
    copy.bind(0, spare.string());
    copy.run();
  } catch (const DatabaseError& error) {
    std::filesystem::remove(spare, nothing);
    throw base::Error(error.fault,
                      fmt::format("nor in '{}': {}", spare.parent_path().string(), error.what()));
  }
}

void Record::rescue(const std::filesystem::path& folder) {
  base::ensure(finished_ && database_, "a record is rescued after a finish that failed");
  const std::filesystem::path spare = folder_of_records(folder) / path_.filename();
  copy_into(spare);
  auto database = std::make_unique<Database>(
      spare, Database::Options{.access = Database::Access::write, .called = spare});
  database_ = std::move(database);
  const std::filesystem::path former = std::exchange(written_to_, spare);
  path_ = spare;
  write_last();
  database_.reset();
  std::error_code nothing;
  for (const char* end : {"", "-wal", "-shm", "-journal"})
    std::filesystem::remove(former.string() + end, nothing);
}

void Record::write_last() {
  for (int left = tries_at_the_end;; --left) {
    try {
      write_queued();
      Statement update(*database_, "UPDATE run SET state = ?");
      update.bind(0, run_.state);
      update.run();
      return;
    } catch (const DatabaseError& error) {
      if (!error.busy() || left == 0) throw;
    }
  }
}

// Clears the write-ahead log away. Somebody who reads at this moment keeps it there; then the next
// one to open the record clears it.
void Record::stand_alone() {
  for (int left = 20; left > 0; --left) {
    try {
      if (database_->text("PRAGMA journal_mode = DELETE") == "delete") return;
    } catch (const DatabaseError& error) {
      if (!error.busy()) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace parajoule::store
