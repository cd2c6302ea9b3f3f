#include "cli/notes.h"

#include <csignal>
#include <cstring>
#include <filesystem>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

class Notes : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("notes" + std::to_string(getpid()));
    clear_notes(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(Notes, TellWhatBecameOfEachRank) {
  OwnNote first(folder_, 0);
  OwnNote second(folder_, 1);
  OwnNote third(folder_, 3);
  EXPECT_TRUE(first.stopped("after step 12"));
  EXPECT_TRUE(second.failed(base::Fault::environment, "no space\nleft"));
  const auto notes = read_notes(folder_, 4);
  EXPECT_EQ(notes[0]->state, Note::State::stopped);
  EXPECT_EQ(notes[0]->text, "after step 12");
  EXPECT_EQ(notes[0]->process, getpid());
  EXPECT_EQ(notes[1]->state, Note::State::failed);
  EXPECT_EQ(notes[1]->fault, base::Fault::environment);
  EXPECT_EQ(notes[2], std::nullopt);
  EXPECT_EQ(notes[3]->state, Note::State::started);
}

TEST_F(Notes, TheFirstLastWordStands) {
  OwnNote note(folder_, 0);
  note.failed(base::Fault::bug, "the cause");
  note.failed(base::Fault::peer, "what followed");
  note.ended();
  EXPECT_EQ(read_notes(folder_, 1)[0]->text, "the cause");
}

TEST_F(Notes, ALongCauseIsCutToItsPage) {
  OwnNote note(folder_, 0);
  EXPECT_TRUE(note.failed(base::Fault::bug, std::string(100000, 'x')));
  const auto read = read_notes(folder_, 1)[0];
  EXPECT_EQ(read->state, Note::State::failed);
  EXPECT_GT(read->text.size(), 1000U);
}

TEST_F(Notes, TheLastWordNeedsNoMoreSpaceThanTheFirst) {
  const pid_t child = fork();
  if (child == 0) {
    OwnNote note(folder_, 0);
    signal(SIGXFSZ, SIG_IGN);
    const rlimit full{4096, 4096};
    setrlimit(RLIMIT_FSIZE, &full);
    _exit(note.failed(base::Fault::environment, "disk full") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(fs::file_size(folder_ / "rank0"), 4096U);
  EXPECT_EQ(read_notes(folder_, 1)[0]->text, "disk full");
}

TEST_F(Notes, ACrashIsALastWord) {
  for (const int crash : {SIGSEGV, SIGABRT}) {
    const pid_t child = fork();
    if (child == 0) {
      OwnNote note(folder_, 0);
      note.listen_for_crashes();
      raise(crash);
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WTERMSIG(status), crash);
    const auto note = read_notes(folder_, 1)[0];
    EXPECT_EQ(note->state, Note::State::failed);
    EXPECT_EQ(note->fault, std::nullopt);
    EXPECT_NE(note->text.find(strsignal(crash)), std::string::npos) << note->text;
  }
}

TEST_F(Notes, ClearingForgetsAnEarlierStart) {
  OwnNote(folder_, 0).ended();
  clear_notes(folder_);
  EXPECT_EQ(read_notes(folder_, 1)[0], std::nullopt);
}

TEST_F(Notes, AFolderThatCannotBeWrittenIsNamed) {
  try {
    OwnNote note(folder_ / "missing", 0);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::environment);
    EXPECT_NE(std::string(error.what()).find("missing/rank0"), std::string::npos) << error.what();
  }
}

TEST_F(Notes, RubbishIsNone) {
  FILE* file = fopen((folder_ / "rank0").c_str(), "w");
  fputs("state dancing\n\xff\xfe", file);
  fclose(file);
  EXPECT_EQ(read_notes(folder_, 1)[0], std::nullopt);
}

}  // namespace
}  // namespace parajoule::cli
