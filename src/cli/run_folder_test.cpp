#include "cli/run_folder.h"

#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/notes.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

class RunFolders : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / ("runs" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  RunFolder choose(const std::string& settings, Begin begin = Begin::resume_if_possible) {
    return choose_run_folder(root_, {.name = "my run/\xff", .settings = settings}, begin);
  }

  fs::path root_;
};

TEST_F(RunFolders, TheSameExperimentGoesOnWhereItWas) {
  const RunFolder first = choose("seed = 1\n");
  EXPECT_FALSE(first.begun_before);
  const RunFolder again = choose("seed = 1\n");
  EXPECT_TRUE(again.begun_before);
  EXPECT_EQ(again.path, first.path);
}

TEST_F(RunFolders, AnotherExperimentDoesNot) {
  EXPECT_NE(choose("seed = 1\n").path, choose("seed = 2\n").path);
}

TEST_F(RunFolders, OneThatCameToItsEndBeginsAnew) {
  const RunFolder first = choose("seed = 1\n");
  OwnNote(notes_in(first.path), 0).ended();
  EXPECT_NE(choose("seed = 1\n").path, first.path);
}

TEST_F(RunFolders, OneThatStoppedGoesOn) {
  const RunFolder first = choose("seed = 1\n");
  OwnNote(notes_in(first.path), 0).stopped("after step 3");
  EXPECT_EQ(choose("seed = 1\n").path, first.path);
}

TEST_F(RunFolders, OneThatCouldNotBeginIsRemoved) {
  const RunFolder first = choose("seed = 1\n");
  OwnNote(notes_in(first.path), 0).stopped("no memory");
  ASSERT_TRUE(RunLock::take(first.path));
  remove_if_nothing_began(first.path);
  EXPECT_FALSE(fs::exists(first.path));
  EXPECT_FALSE(choose("seed = 1\n").begun_before);
}

TEST_F(RunFolders, OneWithACheckpointIsKept) {
  const RunFolder first = choose("seed = 1\n");
  std::ofstream(first.path / "3.ckpt") << "weights";
  remove_if_nothing_began(first.path);
  EXPECT_TRUE(fs::exists(first.path / "3.ckpt"));
  EXPECT_TRUE(choose("seed = 1\n").begun_before);
}

TEST_F(RunFolders, TwoAtOnceGetAFolderEach) {
  const RunFolder first = choose("seed = 1\n");
  const auto lock = RunLock::take(first.path);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(RunLock::take(first.path));
  EXPECT_NE(choose("seed = 1\n").path, first.path);
}

TEST_F(RunFolders, ALockEndsWithItsHolder) {
  const RunFolder first = choose("seed = 1\n");
  { const auto lock = RunLock::take(first.path); }
  EXPECT_TRUE(RunLock::take(first.path));
}

TEST_F(RunFolders, AfreshMeansAfresh) {
  const RunFolder first = choose("seed = 1\n");
  EXPECT_NE(choose("seed = 1\n", Begin::afresh).path, first.path);
}

TEST_F(RunFolders, AChangedExperimentIsToldWhatKeepsItFromGoingOn) {
  const RunFolder first = choose("epochs = 3\nseed = 1\n");
  EXPECT_EQ(first.remark, "");
  EXPECT_EQ(choose("epochs = 3\nseed = 1\n").remark, "");
  EXPECT_EQ(choose("epochs = 3\nseed = 2\n", Begin::afresh).remark, "");
  fs::remove_all(root_);
  const RunFolder again = choose("epochs = 3\nseed = 1\n");
  EXPECT_EQ(choose("epochs = 3\nseed = 2\n").remark, "begins anew: the unfinished run in " +
                                                         again.path.string() +
                                                         " has seed = 1, this one seed = 2");
}

TEST_F(RunFolders, NothingIsSaidOfRunsThatEndedRunOnOrHaveAnotherName) {
  const RunFolder ended = choose("seed = 1\n");
  OwnNote(notes_in(ended.path), 0).ended();
  EXPECT_EQ(choose("seed = 2\n", Begin::resume_if_possible).remark, "");
  fs::remove_all(root_);
  const RunFolder under_way = choose("seed = 1\n");
  const auto lock = RunLock::take(under_way.path);
  EXPECT_EQ(choose("seed = 2\n").remark, "");
  fs::remove_all(root_);
  choose("seed = 1\n");
  EXPECT_EQ(
      choose_run_folder(root_, {.name = "my", .settings = "seed = 2\n"}, Begin::resume_if_possible)
          .remark,
      "");
}

TEST_F(RunFolders, NamesAreSafeForEveryFileSystem) {
  const std::string name = choose("").path.filename().string();
  EXPECT_NE(name.find("-my-run--"), std::string::npos) << name;
}

TEST_F(RunFolders, AFolderThatCannotBeMadeIsNamed) {
  try {
    choose_run_folder("/proc/nothing", {.name = "x", .settings = ""}, Begin::afresh);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_NE(std::string(error.what()).find("/proc/nothing"), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::cli
