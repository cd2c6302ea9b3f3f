#include "train/stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

TEST(Stop, NoticesEachSignalAndKeepsTheFirst) {
  for (int first : {SIGUSR1, SIGTERM, SIGHUP, SIGINT}) {
    signal(first, SIG_DFL);  // even if the tests run under nohup
    const Stop stop;
    EXPECT_FALSE(stop.requested());
    raise(first);
    EXPECT_TRUE(stop.requested());
    EXPECT_EQ(stop.signal(), first);
    raise(SIGUSR1);
    EXPECT_EQ(stop.signal(), first);
  }
}

TEST(Stop, PutsBackWhatWasThere) {
  static volatile sig_atomic_t others = 0;
  const auto other = [](int) { others = others + 1; };
  const auto before = signal(SIGUSR1, other);
  {
    const Stop stop;
    raise(SIGUSR1);
    EXPECT_EQ(others, 0);
  }
  raise(SIGUSR1);
  EXPECT_EQ(others, 1);
  signal(SIGUSR1, before);
}

TEST(Stop, LeavesIgnoredWhatNohupOrTheBackgroundIgnores) {
  for (int ignored : {SIGHUP, SIGINT}) {
    const auto before = signal(ignored, SIG_IGN);
    {
      const Stop stop;
      raise(ignored);
      EXPECT_FALSE(stop.requested());
    }
    signal(ignored, before);
  }
}

TEST(Stop, LeavesALimitOnFilesToTheirWriters) {
  const Stop stop;
  raise(SIGXFSZ);
  EXPECT_FALSE(stop.requested());
}

TEST(Stop, ForgetsTheSignalsOfAnEarlierOne) {
  {
    const Stop stop;
    raise(SIGTERM);
  }
  const Stop stop;
  EXPECT_FALSE(stop.requested());
}

TEST(Stop, IsOneInAProcess) {
  const Stop stop;
  EXPECT_THROW(Stop(), base::Error);
}

int end_of_child(int first, int second) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGINT, SIG_DFL);
    const Stop stop;
    raise(first);
    raise(second);
    _exit(42);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

TEST(Stop, LetsAPersonOutAtTheSecondInterrupt) {
  EXPECT_EQ(end_of_child(SIGINT, SIGINT), SIGINT);
  EXPECT_EQ(end_of_child(SIGINT, SIGUSR1), -42);
  EXPECT_EQ(end_of_child(SIGTERM, SIGTERM), -42);
}

}  // namespace
}  // namespace parajoule::train
