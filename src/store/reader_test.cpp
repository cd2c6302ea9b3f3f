#include "store/reader.h"

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/database.h"
#include "store/record.h"
#include "store/schema.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// What opening and reading all of a file says; empty if it reads.
std::string said_of(const std::filesystem::path& file) {
  try {
    const Reader reader(file, local_disk);
    reader.rows<Source>();
    reader.rows<Reading>();
    reader.rows<Step>();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    return error.what();
  }
  return {};
}

std::filesystem::path written(const TemporaryFolder& folder, const std::string& bytes) {
  const std::filesystem::path path = folder.path() / "file.db";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::filesystem::path finished_record(const TemporaryFolder& folder) {
  Record record(options_in(folder));
  Example().add_to(record);
  record.finish(State::done);
  return record.path();
}

/// A sound record on which `sql` was run.
std::filesystem::path changed_record(const TemporaryFolder& folder, const std::string& sql) {
  const std::filesystem::path path = finished_record(folder);
  Database(path, {.access = Database::Access::write})
      .run("PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; " + sql);
  return path;
}

TEST(Reader, ReadsTheFirstVersionForEver) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "version1.db";
  std::filesystem::copy_file(PARAJOULE_SOURCE "/test/records/version1.db", path);
  const Reader reader(path);
  const Example example;
  EXPECT_EQ(reader.run(), (store::Run{.id = "qzokvtah",
                                      .name = "mlp",
                                      .kind = Kind::run,
                                      .state = State::done,
                                      .started_utc = "2025-11-30T10:11:12.123Z",
                                      .version = "0.1.0",
                                      .command = "parajoule train mlp.toml"}));
  EXPECT_THAT(reader.rows<Setting>(), Contains(example.setting));
  EXPECT_THAT(reader.rows<Node>(), ElementsAre(example.node));
  EXPECT_THAT(reader.rows<Source>(), ElementsAre(example.package, example.memory));
  EXPECT_EQ(reader.rows<Reading>(), example.readings);
  EXPECT_THAT(reader.rows<Phase>(), ElementsAre(example.phase));
  EXPECT_THAT(reader.rows<Step>(), ElementsAre(example.step));
  EXPECT_THAT(reader.rows<Epoch>(), ElementsAre(example.epoch));
  EXPECT_THAT(reader.rows<Note>(), Contains(example.note));
}

TEST(Reader, RefusesALaterVersionNamingBoth) {
  const TemporaryFolder folder;
  EXPECT_THAT(said_of(changed_record(folder, "PRAGMA user_version = 2; DROP TABLE note")),
              HasSubstr("is a record of version 2 and this program reads versions up to 1: use"));
}

TEST(Reader, RefusesWhatIsNoRecord) {
  const TemporaryFolder folder;
  EXPECT_THAT(said_of(folder.path() / "nothing.db"), HasSubstr("there is no record"));
  EXPECT_THAT(said_of(folder.path()), HasSubstr("no plain file"));
  EXPECT_THAT(said_of("/dev/null"), HasSubstr("no plain file"));
  EXPECT_THAT(said_of(written(folder, "")), HasSubstr("not a record of a run"));
  EXPECT_THAT(said_of(written(folder, std::string(5000, 'x'))), HasSubstr("no SQLite file"));
  const std::filesystem::path other = folder.path() / "other.db";
  Database(other, {.access = Database::Access::create}).run("CREATE TABLE a(b)");
  EXPECT_THAT(said_of(other), HasSubstr("an SQLite file of another kind"));
}

TEST(Reader, RefusesARecordThatIsCutOffOrOverwritten) {
  const TemporaryFolder folder;
  const std::filesystem::path path = finished_record(folder);
  std::string bytes(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), std::streamsize(bytes.size()));
  EXPECT_THAT(said_of(written(folder, bytes.substr(0, bytes.size() / 2))), HasSubstr("damaged"));
  std::string zeroed = bytes;
  std::fill(zeroed.begin() + 4096, zeroed.end(), '\0');
  EXPECT_THAT(said_of(written(folder, zeroed)), HasSubstr("damaged"));
}

TEST(Reader, RefusesRowsThatAreNotSound) {
  const struct {
    const char* sql;
    const char* said;
  } cases[] = {
      {"UPDATE source SET label = 'guessed'", "an unknown word in column 'label'"},
      {"UPDATE reading SET seconds = 'soon'", "no number in column 'seconds'"},
      {"UPDATE reading SET seconds = 9e999", "no moment in column 'seconds'"},
      {"UPDATE source SET node = 5000000000 WHERE source = 0", "out of range in column 'node'"},
      {"UPDATE step SET samples = -1", "out of range in column 'samples'"},
      {"UPDATE source SET covers = x'00'", "no text in column 'covers'"},
      {"UPDATE run SET state = 'asleep'", "an unknown word in column 'state'"},
      {"DELETE FROM run", "holds 0 runs"},
      {"INSERT INTO run SELECT id || 'x', name, kind, state, started_utc, version, command FROM "
       "run",
       "holds 2 runs"},
      {"ALTER TABLE step DROP COLUMN loss", "tables or columns are missing"},
      {"DROP TABLE phase", "tables or columns are missing"},
  };
  for (const auto& [sql, said] : cases) {
    const TemporaryFolder folder;
    EXPECT_THAT(said_of(changed_record(folder, std::string("PRAGMA foreign_keys = OFF; ") + sql)),
                HasSubstr(said))
        << sql;
  }
}

TEST(Reader, RunsNothingThatAFileContains) {
  const std::string endless_view =
      "CREATE VIEW reading AS WITH RECURSIVE n(source, seconds, value, gap) AS (VALUES(0, 0.0, "
      "1.0, "
      "NULL) UNION ALL SELECT 0, seconds + 1, 1.0, NULL FROM n) SELECT * FROM n";
  const std::string huge_column =
      "CREATE TABLE reading(source INTEGER, seconds REAL, gap TEXT, value AS "
      "(hex(zeroblob(1000000000))))";
  const std::string index_of_texts =
      "CREATE VIRTUAL TABLE reading USING fts5(source, seconds, value, gap)";
  for (const std::string& trap : {endless_view, huge_column, index_of_texts}) {
    const TemporaryFolder folder;
    EXPECT_THAT(said_of(changed_record(folder, "DROP TABLE reading; " + trap)),
                HasSubstr("missing"))
        << trap;
  }
}

TEST(Reader, KnowsWhenARunEndedByItsLastRow) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  EXPECT_EQ(Reader(record.path()).last_seconds(), base::Seconds(0));
  Example().add_to(record);
  record.write();
  EXPECT_EQ(Reader(record.path()).last_seconds(), base::Seconds(3.5));
}

TEST(Reader, DoesNotGuessAboutOtherMachines) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  record.add(Setting{"process", "another-boot/pid:[1]/1/1", "record"});
  record.write();
  EXPECT_EQ(Reader(record.path()).standing(), Standing::unknown);
}

/// Runs `body` as a user who is not root, to whom permissions mean something.
int as_nobody(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 98;
    try {
      if (geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0)) status = body();
    } catch (const std::exception& error) {
      fprintf(stderr, "as nobody: %s\n", error.what());
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class ReadOnlyFolder : public testing::Test {
 protected:
  ~ReadOnlyFolder() override {
    std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  }
  void protect() const {
    using std::filesystem::perms;
    const perms readable = perms::owner_read | perms::group_read | perms::others_read;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      std::filesystem::permissions(entry.path(), readable);
    std::filesystem::permissions(
        folder_.path(), readable | perms::owner_exec | perms::group_exec | perms::others_exec);
  }
  const TemporaryFolder folder_;
};

TEST_F(ReadOnlyFolder, DoesNotMatterToAFinishedRecord) {
  const std::filesystem::path path = finished_record(folder_);
  protect();
  EXPECT_EQ(as_nobody([&] { return int(Reader(path, local_disk).rows<Step>().size()); }), 1);
  EXPECT_THAT(folder_.names(), SizeIs(1));
}

TEST_F(ReadOnlyFolder, DoesNotMatterToOneWhoseLogWasClearedAwayByAnotherProgram) {
  const std::filesystem::path path = finished_record(folder_);
  Database(path, {.access = Database::Access::write}).text("PRAGMA journal_mode = WAL");
  EXPECT_THAT(folder_.names(), SizeIs(1));
  protect();
  EXPECT_EQ(as_nobody([&] { return int(Reader(path, local_disk).rows<Step>().size()); }), 1);
}

/// Leaves the record of a killed run on `on`.
std::filesystem::path killed_record(const TemporaryFolder& folder,
                                    FileSystem (*on)(const std::filesystem::path&)) {
  const pid_t child = fork();
  if (child == 0) {
    Record::Options options = options_in(folder);
    options.file_system = on;
    Record record(options);
    Example().add_to(record);
    record.write();
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  for (const std::string& name : folder.names())
    if (name.ends_with(".db")) return folder.path() / name;
  return {};
}

TEST_F(ReadOnlyFolder, DoesNotMatterToAKilledRun) {
  const std::filesystem::path path = killed_record(folder_, local_disk);
  const auto before = folder_.names();
  EXPECT_THAT(before, SizeIs(3));
  protect();
  EXPECT_EQ(as_nobody([&] { return int(Reader(path, local_disk).rows<Step>().size()); }), 1);
  EXPECT_EQ(folder_.names(), before);
}

TEST_F(ReadOnlyFolder, DoesNotMatterToAKilledRunThatLostItsSharedMemoryFile) {
  std::filesystem::path path = killed_record(folder_, local_disk);
  std::filesystem::remove(path.string() + "-shm");
  protect();
  EXPECT_EQ(as_nobody([&] { return int(Reader(path, local_disk).rows<Step>().size()); }), 1);
}

/// A record whose writer died in the middle of a transaction with a rollback journal.
std::filesystem::path hot_record(const TemporaryFolder& folder) {
  const std::filesystem::path path = finished_record(folder);
  const pid_t child = fork();
  if (child == 0) {
    const Database database(path, {.access = Database::Access::write});
    database.run(
        "PRAGMA cache_size = 1; PRAGMA synchronous = OFF; BEGIN; DELETE FROM step; "
        "WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        "INSERT INTO step SELECT 0, i, 0, 0, 0, 0, 0 FROM n");
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  return path;
}

TEST(HotJournal, IsRolledBack) {
  const TemporaryFolder folder;
  const std::filesystem::path path = hot_record(folder);
  EXPECT_THAT(folder.names(), SizeIs(2));
  EXPECT_THAT(Reader(path, local_disk).rows<Step>(), ElementsAre(Example().step));
  EXPECT_THAT(folder.names(), SizeIs(1));
}

TEST(HotJournal, IsRolledBackInACopyWhereItsWriterMayBeAlive) {
  const TemporaryFolder folder;
  const std::filesystem::path path = hot_record(folder);
  EXPECT_THAT(Reader(path, network_disk).rows<Step>(), ElementsAre(Example().step));
  EXPECT_THAT(folder.names(), SizeIs(2));
}

TEST(HotJournal, IsRolledBackInACopyIfTheFolderIsReadOnly) {
  const TemporaryFolder folder;
  const std::filesystem::path path = hot_record(folder);
  using std::filesystem::perms;
  std::filesystem::permissions(folder.path(), perms::owner_read | perms::owner_exec |
                                                  perms::others_read | perms::others_exec);
  EXPECT_EQ(as_nobody([&] { return int(Reader(path, local_disk).rows<Step>().size()); }), 1);
  EXPECT_THAT(folder.names(), SizeIs(2));
}

}  // namespace
}  // namespace parajoule::store
