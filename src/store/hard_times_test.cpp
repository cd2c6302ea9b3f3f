// What happens to a record when its writer is killed or its disk is full. The writer is a child
// process, so that it can die.

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/seed.h"
#include "store/database.h"
#include "store/reader.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

/// Runs `body` in a child process, whose exit status it is.
pid_t in_child(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = body();
  } catch (const std::exception& error) {
    fprintf(stderr, "in the child: %s\n", error.what());
  }
  _exit(status);
}

int status_of(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// Memory that a child writes and its parent reads after the child is dead.
struct Told {
  std::atomic<std::int64_t> rows{0};  ///< how many were added
  std::atomic<double> seconds{0};     ///< the moment of the last one
  static Told& make() {
    void* memory =
        mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *new (memory) Told;
  }
};

Step numbered(std::int64_t step, base::Seconds now) {
  return {.rank = 0,
          .step = step,
          .seconds = now,
          .samples = 64,
          .loss = 1,
          .sent_bytes = 0,
          .waited = {}};
}

std::filesystem::path only_record(const TemporaryFolder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".db") return entry.path();
  ADD_FAILURE() << "no record was made";
  return {};
}

void expect_the_first_rows(const std::vector<Step>& steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) ASSERT_EQ(steps[i].step, std::int64_t(i));
}

class Killed : public testing::TestWithParam<FileSystem (*)(const std::filesystem::path&)> {};

TEST_P(Killed, KeepsAllButTheLastSecond) {
  base::Stream random{20251130};
  for (int times = 0; times < 10; ++times) {
    const TemporaryFolder folder;
    Told& told = Told::make();
    const pid_t child = in_child([&] {
      Record::Options options = options_in(folder);
      options.file_system = GetParam();
      options.write_every = base::Seconds(0.02);
      Record record(options);
      for (std::int64_t step = 0;; ++step) {
        const base::Seconds now = record.now();
        record.add(numbered(step, now));
        told.seconds = now.count();
        told.rows = step + 1;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      return 0;
    });
    while (told.rows == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::duration<double>(random.uniform(0, 0.2)));
    kill(child, SIGKILL);
    EXPECT_EQ(status_of(child), -SIGKILL);

    const Reader reader(only_record(folder), GetParam());
    const auto steps = reader.rows<Step>();
    expect_the_first_rows(steps);
    const double last = steps.empty() ? 0 : steps.back().seconds.count();
    EXPECT_LT(told.seconds - last, 1);
    EXPECT_EQ(reader.standing(), Standing::killed);
    EXPECT_EQ(reader.run().state, State::running);
  }
}
INSTANTIATE_TEST_SUITE_P(On, Killed, testing::Values(local_disk, network_disk));

TEST(Killed, IsOneFileAgainOnceItWasRead) {
  const TemporaryFolder folder;
  const pid_t child = in_child([&] {
    Record record(options_in(folder));
    record.add(numbered(0, record.now()));
    record.write();
    kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(status_of(child), -SIGKILL);
  EXPECT_GT(folder.names().size(), 1u);
  EXPECT_THAT(Reader(only_record(folder)).rows<Step>(), SizeIs(1));
  EXPECT_THAT(folder.names(), ElementsAre(only_record(folder).filename()));
  EXPECT_THAT(Reader(only_record(folder)).rows<Step>(), SizeIs(1));
}

void limit_file_size(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_IGN);
}

/// A record on a disk that is full after 300 kB, and what it says then.
struct Filled {
  Record record;
  std::string said = {};
  std::int64_t rows = 0;

  explicit Filled(const Record::Options& options) : record(options) {
    limit_file_size(300'000);
    const std::string text(10'000, 'x');
    while (said.empty() && rows < 100'000) {
      try {
        record.add(numbered(rows++, record.now()));
        record.add(Note{.seconds = record.now(), .severity = Severity::note, .text = text});
        record.write();
      } catch (const base::Error& error) {
        said = error.fault == base::Fault::environment ? error.what() : "another fault";
      }
    }
  }
  bool said_what_to_do() const {
    return said.find(record.path().string()) != said.npos && said.find('\n') == said.npos &&
           said.find("PARAJOULE_RECORDS") != said.npos;
  }
};

class FullDisk : public testing::TestWithParam<FileSystem (*)(const std::filesystem::path&)> {
 protected:
  Record::Options options_in_folder() const {
    Record::Options options = options_in(folder_);
    options.file_system = GetParam();
    options.write_every = base::Seconds(3600);
    return options;
  }
  const TemporaryFolder folder_;
  Told& told_ = Told::make();
};

TEST_P(FullDisk, IsToldInOneLineAndEverythingWrittenStaysReadable) {
  const pid_t child = in_child([&] {
    Filled full(options_in_folder());
    told_.rows = full.rows;
    if (!full.said_what_to_do()) throw std::runtime_error("it said: " + full.said);
    try {
      full.record.finish(State::failed, "disk full");
    } catch (const base::Error& error) {
      return error.fault == base::Fault::environment ? 0 : 1;
    }
    return 2;
  });
  EXPECT_EQ(status_of(child), 0);
  const Reader reader(only_record(folder_), GetParam());
  const auto steps = reader.rows<Step>();
  expect_the_first_rows(steps);
  EXPECT_EQ(std::int64_t(steps.size()), told_.rows - 1);
  EXPECT_EQ(reader.standing(), Standing::killed);
}

TEST_P(FullDisk, LosesNothingIfThereIsRoomElsewhere) {
  const TemporaryFolder elsewhere;
  const pid_t child = in_child([&] {
    Filled full(options_in_folder());
    full.record.add(numbered(full.rows++, full.record.now()));
    told_.rows = full.rows;
    try {
      full.record.finish(State::done);
      return 1;
    } catch (const base::Error&) {
      limit_file_size(RLIM_INFINITY);
      full.record.rescue(elsewhere.path());
    }
    return full.record.path().parent_path() == elsewhere.path() ? 0 : 2;
  });
  EXPECT_EQ(status_of(child), 0);
  EXPECT_THAT(elsewhere.names(), SizeIs(1));
  EXPECT_THAT(folder_.names(), SizeIs(0));
  const Reader reader(only_record(elsewhere));
  const auto steps = reader.rows<Step>();
  expect_the_first_rows(steps);
  EXPECT_EQ(std::int64_t(steps.size()), told_.rows);
  EXPECT_EQ(reader.standing(), Standing::done);
}

TEST_P(FullDisk, OrAFolderThatIsRemovedLosesNothingEither) {
  const TemporaryFolder elsewhere;
  Record::Options options = options_in_folder();
  options.folder /= "gone";
  Record record(options);
  record.add(numbered(0, record.now()));
  record.write();
  record.add(numbered(1, record.now()));
  std::filesystem::remove_all(options.folder);
  EXPECT_THROW(record.finish(State::done), base::Error);
  record.rescue(elsewhere.path());
  const Reader reader(record.path());
  EXPECT_THAT(reader.rows<Step>(), SizeIs(2));
  EXPECT_EQ(reader.standing(), Standing::done);
}

TEST_P(FullDisk, LosesNothingIfRoomIsMade) {
  const pid_t child = in_child([&] {
    Filled full(options_in_folder());
    limit_file_size(RLIM_INFINITY);
    full.record.add(numbered(full.rows++, full.record.now()));
    told_.rows = full.rows;
    full.record.finish(State::done);
    return full.said_what_to_do() ? 0 : 1;
  });
  EXPECT_EQ(status_of(child), 0);
  const Reader reader(only_record(folder_), GetParam());
  const auto steps = reader.rows<Step>();
  expect_the_first_rows(steps);
  EXPECT_EQ(std::int64_t(steps.size()), told_.rows);
  EXPECT_EQ(reader.standing(), Standing::done);
}
INSTANTIATE_TEST_SUITE_P(On, FullDisk, testing::Values(local_disk, network_disk));

TEST(DiskThatIsFull, IsToldFromTheRecordsOwnThreadAtTheNextCall) {
  const TemporaryFolder folder;
  const pid_t child = in_child([&] {
    Record::Options options = options_in(folder);
    options.write_every = base::Seconds(0.005);
    Record record(options);
    limit_file_size(100);
    for (int tries = 0; tries < 2000; ++tries) {
      try {
        record.add(numbered(tries, record.now()));
      } catch (const base::Error& error) {
        return error.fault == base::Fault::environment ? 0 : 1;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return 2;
  });
  EXPECT_EQ(status_of(child), 0);
}

TEST(DiskThatIsFull, HasItsOwnWordsWhateverSqliteCallsIt) {
  const TemporaryFolder folder;
  const Database database(folder.path() / "a.db", {.access = Database::Access::create});
  database.run("PRAGMA max_page_count = 4; CREATE TABLE a(b)");
  try {
    database.run("INSERT INTO a VALUES(zeroblob(100000))");
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_THAT(error.what(), HasSubstr("a.db': no space left; make room there"));
  }
}

}  // namespace
}  // namespace parajoule::store
