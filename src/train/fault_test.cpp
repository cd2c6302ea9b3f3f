#include "train/fault.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "train/phases.h"

namespace parajoule::train {
namespace {

using testing::HasSubstr;

constexpr FaultPlace places[] = {FaultPlace::data, FaultPlace::forward, FaultPlace::communication,
                                 FaultPlace::evaluation, FaultPlace::checkpoint};
constexpr std::string_view names[] = {"data", "forward", "communication", "evaluation",
                                      "checkpoint"};

TEST(InjectedFault, ThrowsAtItsPlaceOnItsRankFromItsStepOnce) {
  for (std::size_t i = 0; i < std::size(places); ++i) {
    const std::string text = "rank=1 step=3 kind=throw_" + std::string(names[i]);
    InjectedFault other(text, 0);
    InjectedFault mine(text, 1);
    for (FaultPlace place : places) {
      EXPECT_NO_THROW(other.reach(place, 3));
      EXPECT_NO_THROW(mine.reach(place, 2));
      if (place == places[i]) continue;
      EXPECT_NO_THROW(mine.reach(place, 3));
    }
    try {
      mine.reach(places[i], 4);
      FAIL() << text;
    } catch (const base::Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(names[i]));
    }
    EXPECT_NO_THROW(mine.reach(places[i], 4));
    EXPECT_FALSE(mine.spoils_loss(3));
  }
}

TEST(InjectedFault, SpoilsTheLossOfOneStep) {
  const InjectedFault fault("rank=all step=3 kind=nan", 7);
  EXPECT_FALSE(fault.spoils_loss(2));
  EXPECT_TRUE(fault.spoils_loss(3));
  EXPECT_FALSE(fault.spoils_loss(4));
  EXPECT_FALSE(InjectedFault("rank=0 step=3 kind=nan", 7).spoils_loss(3));
}

TEST(InjectedFault, KillsItsProcess) {
  const pid_t child = fork();
  if (child == 0) {
    InjectedFault("rank=0 kind=kill_forward", 0).reach(FaultPlace::forward, 0);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(InjectedFault, SlowWaits) {
  InjectedFault fault("kind=slow_data seconds=0.02", 0);
  const base::Seconds begin = monotonic_now();
  fault.reach(FaultPlace::data, 0);
  EXPECT_GE(monotonic_now() - begin, base::Seconds(0.02));
}

TEST(InjectedFault, MarksTheMoment) {
  const std::string mark =
      std::filesystem::temp_directory_path() / ("fault-" + std::to_string(getpid()));
  InjectedFault fault("kind=throw_data mark=" + mark, 0);
  EXPECT_FALSE(std::filesystem::exists(mark));
  EXPECT_THROW(fault.reach(FaultPlace::data, 0), base::Error);
  EXPECT_TRUE(std::filesystem::remove(mark));
}

TEST(InjectedFault, NothingIsAskedForWithoutTheVariable) {
  unsetenv("PARAJOULE_FAULT");
  InjectedFault none = InjectedFault::of_environment(0);
  for (FaultPlace place : places) EXPECT_NO_THROW(none.reach(place, 100));
  EXPECT_FALSE(none.spoils_loss(0));
  setenv("PARAJOULE_FAULT", "kind=throw_data", 1);
  EXPECT_THROW(InjectedFault::of_environment(5).reach(FaultPlace::data, 0), base::Error);
  unsetenv("PARAJOULE_FAULT");
}

TEST(InjectedFault, RefusesWhatItDoesNotUnderstand) {
  for (std::string_view wrong :
       {"rank", "rank=x", "rank=-1", "step=1.5", "kind=throw", "kind=throw_up", "kind=nan_data",
        "seconds=soon", "when=now kind=nan", "kind=throw_data,rank=1"}) {
    try {
      InjectedFault(wrong, 0);
      ADD_FAILURE() << wrong;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      EXPECT_THAT(error.what(), HasSubstr("PARAJOULE_FAULT"));
    }
  }
}

}  // namespace
}  // namespace parajoule::train
