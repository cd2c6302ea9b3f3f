#include "store/record.h"

#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "store/database.h"
#include "store/reader.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

template <class Call>
base::Error error_of(Call&& call) {
  try {
    call();
  } catch (const base::Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {base::Fault::bug, ""};
}

TEST(Record, ReadsBackEveryRowToTheLastBit) {
  const TemporaryFolder folder;
  const Example example;
  Record record(options_in(folder));
  example.add_to(record);
  record.finish(State::done);

  const Reader reader(record.path());
  EXPECT_THAT(reader.rows<Setting>(), Contains(example.setting));
  EXPECT_THAT(reader.rows<Node>(), ElementsAre(example.node));
  EXPECT_THAT(reader.rows<Source>(), ElementsAre(example.package, example.memory));
  EXPECT_EQ(reader.rows<Reading>(), example.readings);
  EXPECT_THAT(reader.rows<Phase>(), ElementsAre(example.phase));
  EXPECT_THAT(reader.rows<Step>(), ElementsAre(example.step));
  EXPECT_THAT(reader.rows<Epoch>(), ElementsAre(example.epoch));
  EXPECT_THAT(reader.rows<Note>(), Contains(example.note));
  EXPECT_EQ(reader.run().name, "mlp");
  EXPECT_EQ(reader.run().command, "parajoule train mlp.toml");
  EXPECT_EQ(reader.run().id, record.id());
}

TEST(Record, HasTheTablesAndColumnsThatArePromised) {
  const std::map<std::string, std::string> promised = {
      {"run", "id name kind state started_utc version command"},
      {"setting", "key value origin"},
      {"node", "node boot_id host cpus memory_bytes"},
      {"source",
       "source node device device_kind quantity unit label covers part_of resolution "
       "update_period_seconds window_seconds bias_relative formula"},
      {"reading", "source seconds value gap"},
      {"phase", "rank name begin_seconds end_seconds"},
      {"step", "rank step seconds samples loss sent_bytes waited_seconds"},
      {"epoch", "epoch seconds set metric numerator denominator"},
      {"note", "seconds rank severity text"}};
  const TemporaryFolder folder;
  Record record(options_in(folder));
  record.finish(State::done);
  const Database database(record.path(), {.access = Database::Access::read});
  EXPECT_EQ(database.whole("PRAGMA user_version"), 1);
  std::map<std::string, std::string> found;
  Statement tables(database, "SELECT name FROM sqlite_master WHERE type = 'table'");
  while (tables.next()) {
    std::string name;
    tables.read(0, name);
    found[name] =
        database.text("SELECT group_concat(name, ' ') FROM pragma_table_info('" + name + "')");
  }
  EXPECT_EQ(found, promised);
}

TEST(Record, RefusesInItsTablesWhatOtherProgramsMayTry) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  Example().add_to(record);
  record.finish(State::done);
  const Database database(record.path(), {.access = Database::Access::write});
  database.run("PRAGMA foreign_keys = ON");
  for (const char* sql :
       {"INSERT INTO reading VALUES(7, 0, 1, NULL)", "INSERT INTO reading VALUES(0, 0, NULL, NULL)",
        "INSERT INTO reading VALUES(0, 0, 1, 'failed')", "UPDATE source SET label = 'guessed'",
        "UPDATE source SET covers = ''",
        "UPDATE source SET formula = NULL WHERE label = 'modelled'",
        "UPDATE run SET state = 'killed'"})
    EXPECT_THROW(database.run(sql), base::Error) << sql;
}

TEST(Record, KeepsALossThatIsNoNumber) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  Step step = Example().step;
  for (const double loss : {std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(), 5e-324}) {
    step.loss = loss;
    record.add(step);
  }
  record.finish(State::failed, "the loss is no number");
  const auto steps = Reader(record.path()).rows<Step>();
  ASSERT_THAT(steps, SizeIs(3));
  EXPECT_TRUE(std::isnan(steps[0].loss));
  EXPECT_EQ(steps[1].loss, std::numeric_limits<double>::infinity());
  EXPECT_EQ(steps[2].loss, 5e-324);
}

TEST(Record, KeepsTextOfAnyBytes) {
  const TemporaryFolder folder;
  Record::Options options = options_in(folder);
  options.name = "ärger / ../\n\xff";
  options.command = std::string("a\0b\xfe", 4);
  Record record(options);
  record.finish(State::done);
  const Reader reader(record.path());
  EXPECT_EQ(reader.run().name, options.name);
  EXPECT_EQ(reader.run().command, options.command);
  EXPECT_EQ(record.path().parent_path(), std::filesystem::canonical(folder.path()));
}

TEST(Record, LeavesOneFileThatStandsAlone) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  Example().add_to(record);
  record.write();
  EXPECT_THAT(folder.names(), Contains(HasSubstr("-wal")));  // or the next line proves nothing
  record.finish(State::done);
  EXPECT_THAT(folder.names(), ElementsAre(record.path().filename()));
}

TEST(Record, CanBeReadWhileItIsWritten) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  Example().add_to(record);
  record.write();
  {
    const Reader reader(record.path());
    EXPECT_THAT(reader.rows<Step>(), SizeIs(1));
    EXPECT_EQ(reader.standing(), Standing::running);
  }
  record.add(Example().step);
  record.finish(State::done);
  EXPECT_THAT(Reader(record.path()).rows<Step>(), SizeIs(2));
}

TEST(Record, IsFinishedThoughSomebodyReadsIt) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  Example().add_to(record);
  record.write();
  {
    const Reader reader(record.path());
    record.finish(State::done);
    EXPECT_THAT(reader.rows<Step>(), SizeIs(1));
  }
  EXPECT_EQ(Reader(record.path()).standing(), Standing::done);
  EXPECT_THAT(folder.names(), ElementsAre(record.path().filename()));
}

TEST(Record, EndsInTheStateItIsGivenWithANote) {
  const TemporaryFolder folder;
  for (const State state : {State::done, State::stopped, State::failed}) {
    Record record(options_in(folder));
    record.finish(state, "said so");
    const Reader reader(record.path());
    EXPECT_EQ(reader.run().state, state);
    EXPECT_EQ(reader.rows<Note>().back().text, std::string(text_of(state)) + ": said so");
  }
}

TEST(Record, OfARunThatThrewIsFailed) {
  const TemporaryFolder folder;
  std::filesystem::path path;
  try {
    Record record(options_in(folder));
    path = record.path();
    Example().add_to(record);
    throw std::runtime_error("somewhere in training");
  } catch (const std::runtime_error&) {
  }
  const Reader reader(path);
  EXPECT_EQ(reader.standing(), Standing::failed);
  EXPECT_THAT(reader.rows<Step>(), SizeIs(1));
}

TEST(Record, RefusesNumbersWithoutASource) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  const Example example;
  EXPECT_EQ(error_of([&] { record.add(example.readings); }).fault, base::Fault::bug);
  EXPECT_EQ(error_of([&] { record.add(example.package); }).fault, base::Fault::bug);  // no node
  record.add(example.node);
  Source source = example.package;
  source.label = Label(0);
  EXPECT_THAT(error_of([&] { record.add(source); }).what(), HasSubstr("lacks its label"));
  source = example.package;
  source.covers = "";
  EXPECT_THAT(error_of([&] { record.add(source); }).what(), HasSubstr("what it covers"));
  source = example.memory;
  source.formula.reset();
  EXPECT_THAT(error_of([&] { record.add(source); }).what(), HasSubstr("without a formula"));
}

TEST(Record, RefusesReadingsThatAreNeitherValueNorGap) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  const Example example;
  record.add(example.node);
  record.add(example.package);
  const double no_number = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Reading> wrong = {{.source = 0, .seconds = {}},
                                      {.source = 0, .seconds = {}, .value = 1, .gap = "failed"},
                                      {.source = 0, .seconds = {}, .gap = ""},
                                      {.source = 0, .seconds = {}, .value = no_number}};
  for (const Reading& reading : wrong)
    EXPECT_EQ(error_of([&] { record.add(std::span(&reading, 1)); }).fault, base::Fault::bug);
  record.finish(State::done);
  EXPECT_THAT(Reader(record.path()).rows<Reading>(), SizeIs(0));
}

TEST(Record, TakesRowsFromManyThreads) {
  const TemporaryFolder folder;
  Record::Options options = options_in(folder);
  options.write_every = base::Seconds(0.001);
  Record record(options);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank)
      ranks.emplace_back([&record, rank] {
        for (int step = 0; step < 500; ++step) {
          record.add(Step{.rank = rank,
                          .step = step,
                          .seconds = record.now(),
                          .samples = 1,
                          .loss = 0,
                          .sent_bytes = 0,
                          .waited = {}});
          if (step % 100 == 0) record.write();
        }
      });
  }
  record.finish(State::done);
  std::vector<std::int64_t> next(4, 0);
  for (const Step& step : Reader(record.path()).rows<Step>())
    EXPECT_EQ(step.step, next[std::size_t(step.rank)]++);
  EXPECT_THAT(next, ElementsAre(500, 500, 500, 500));
}

TEST(Record, TwoAtOnceInOneFolderAreTwoFiles) {
  const TemporaryFolder folder;
  Record first(options_in(folder));
  Record second(options_in(folder));
  first.add(Setting{"a", "1", "file"});
  second.add(Setting{"a", "2", "file"});
  second.finish(State::done);
  first.finish(State::done);
  EXPECT_EQ(Reader(first.path()).setting("a"), "1");
  EXPECT_EQ(Reader(second.path()).setting("a"), "2");
}

TEST(Record, ASettingWrittenAgainIsReplaced) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  record.add(Setting{"blas_kernel", "unknown", "default"});
  record.add(Setting{"blas_kernel", "Haswell", "run"});
  record.finish(State::done);
  EXPECT_EQ(Reader(record.path()).setting("blas_kernel"), "Haswell");
}

TEST(Record, OfOneNodeIsNamedAfterTheRunAndTheNode) {
  const TemporaryFolder folder;
  Record::Options options = options_in(folder);
  options.part = {.id = "abcdefgh", .node = 3};
  Record record(options);
  EXPECT_EQ(record.path().filename(), "abcdefgh.3.db");
  EXPECT_EQ(record.id(), "abcdefgh");
}

TEST(Record, NeverKeepsALogOnANetworkFileSystem) {
  const TemporaryFolder folder;
  Record::Options options = options_in(folder);
  options.file_system = network_disk;
  Record record(options);
  for (int step = 0; step < 20; ++step) {
    record.add(Example().step);
    record.write();
    EXPECT_THAT(folder.names(), ElementsAre(record.path().filename()));
  }
  EXPECT_THAT(record.remarks(), ElementsAre(HasSubstr("(nfs) has no shared memory")));
  record.finish(State::done);
  const Reader reader(record.path());
  EXPECT_THAT(reader.rows<Step>(), SizeIs(20));
  EXPECT_EQ(reader.rows<Note>().front().text, record.remarks().front());
}

TEST(Record, IsWrittenToALocalDiskWhereLocksDoNotWork) {
  const TemporaryFolder folder;
  const TemporaryFolder local;
  Record::Options options = options_in(folder);
  options.file_system = disk_without_locks;
  options.local = local.path();
  Record record(options);
  Example().add_to(record);
  record.write();
  EXPECT_THAT(folder.names(), SizeIs(0));
  EXPECT_THAT(local.names(), Contains(record.path().filename()));
  EXPECT_THAT(record.remarks(), ElementsAre(HasSubstr(local.path().string())));
  record.finish(State::done);
  EXPECT_THAT(folder.names(), ElementsAre(record.path().filename()));
  EXPECT_THAT(local.names(), SizeIs(0));
  EXPECT_THAT(Reader(record.path()).rows<Step>(), SizeIs(1));
}

TEST(Record, SaysWhereAMoveThatFailedLeftIt) {
  const TemporaryFolder folder;
  const TemporaryFolder local;
  Record::Options options = options_in(folder);
  options.file_system = disk_without_locks;
  options.local = local.path();
  Record record(options);
  std::filesystem::create_directory(record.path());
  const base::Error error = error_of([&] { record.finish(State::done); });
  EXPECT_EQ(error.fault, base::Fault::environment);
  EXPECT_THAT(error.what(), HasSubstr(local.path() / record.path().filename()));
  EXPECT_EQ(Reader(local.path() / record.path().filename()).standing(), Standing::done);
}

TEST(Record, NamesTheFolderThatCannotBeMade) {
  const TemporaryFolder folder;
  Record::Options options = options_in(folder);
  options.folder = "/proc/records";
  const base::Error error = error_of([&] { Record record(options); });
  EXPECT_EQ(error.fault, base::Fault::environment);
  EXPECT_THAT(error.what(), HasSubstr("'/proc/records'"));
  EXPECT_THAT(error.what(), HasSubstr("PARAJOULE_RECORDS"));
}

}  // namespace
}  // namespace parajoule::store
