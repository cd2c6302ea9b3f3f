#include "train/phases.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::train {
namespace {

TEST(Phases, KeepWhatTheyWereTold) {
  Phases phases;
  const base::Seconds begin = monotonic_now();
  {
    auto span = phases.enter(Phase::forward);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  auto span = phases.enter(Phase::backward);
  span.end();
  span.end();  // a second time changes nothing
  { auto again = phases.enter(Phase::forward); }
  const base::Seconds end = monotonic_now();

  const auto intervals = phases.take();
  ASSERT_EQ(intervals.size(), 3);
  EXPECT_EQ(intervals[0].phase, Phase::forward);
  EXPECT_EQ(intervals[1].phase, Phase::backward);
  EXPECT_EQ(intervals[2].phase, Phase::forward);
  base::Seconds last = begin;
  for (const auto& interval : intervals) {
    EXPECT_LE(last, interval.begin);
    EXPECT_LE(interval.begin, interval.end);
    last = interval.end;
  }
  EXPECT_LE(last, end);
  EXPECT_GE(intervals[0].end - intervals[0].begin, base::Seconds(0.005));
  EXPECT_EQ(phases.total(Phase::forward),
            (intervals[0].end - intervals[0].begin) + (intervals[2].end - intervals[2].begin));
  EXPECT_EQ(phases.total(Phase::evaluation), base::Seconds(0));
  EXPECT_TRUE(phases.take().empty());
}

TEST(Phases, DoNotNest) {
  Phases phases;
  auto span = phases.enter(Phase::forward);
  EXPECT_THROW((void)phases.enter(Phase::update), base::Error);
  span.end();
  EXPECT_NO_THROW((void)phases.enter(Phase::update));
}

TEST(Phases, EndWhenAnExceptionPasses) {
  Phases phases;
  try {
    auto span = phases.enter(Phase::checkpoint);
    throw 1;
  } catch (int) {
  }
  EXPECT_EQ(phases.take().size(), 1);
  EXPECT_NO_THROW((void)phases.enter(Phase::update));
}

}  // namespace
}  // namespace parajoule::train
