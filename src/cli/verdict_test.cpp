#include "cli/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

using State = Note::State;
using testing::HasSubstr;

Note failed(base::Fault fault, std::string text, double at) {
  return {.state = State::failed, .fault = fault, .text = std::move(text), .utc_seconds = at};
}

const Note started{.state = State::started};
const Note ended{.state = State::ended};
const Note halted{.state = State::stopped, .text = "after step 7"};

TEST(Verdict, AllEndedIsDoneInSilence) {
  const Verdict verdict = judge({ended, ended}, {});
  EXPECT_EQ(verdict.status, done);
  EXPECT_EQ(verdict.line, "");
}

TEST(Verdict, AllStoppedSaysHowToGoOn) {
  const Verdict verdict = judge({halted, halted}, {.code = 75});
  EXPECT_EQ(verdict.status, stopped);
  EXPECT_THAT(verdict.line, HasSubstr("after step 7"));
}

TEST(Verdict, TheEarliestCauseOfItsOwnWins) {
  const Verdict verdict = judge({failed(base::Fault::peer, "rank 2 failed", 1),
                                 failed(base::Fault::not_a_number, "loss is nan", 3),
                                 failed(base::Fault::input, "a.jpg cannot be read", 2)},
                                {.code = 2});
  EXPECT_EQ(verdict.status, wrong_usage);
  EXPECT_EQ(verdict.line, "rank 2: a.jpg cannot be read");
}

TEST(Verdict, TheOnlySilentRankIsTheOneThatDied) {
  const Verdict verdict =
      judge({failed(base::Fault::peer, "rank 1 is gone", 5), started}, {.code = 137});
  EXPECT_EQ(verdict.status, rank_died);
  EXPECT_THAT(verdict.line, HasSubstr("rank 1 died"));
  EXPECT_THAT(verdict.line, HasSubstr("rank 0: rank 1 is gone"));
}

TEST(Verdict, AmongManySilentRanksTheOneThatNoticedIsBelieved) {
  const Verdict verdict =
      judge({failed(base::Fault::peer, "rank 2 is gone", 5), started, started}, {.code = 4});
  EXPECT_EQ(verdict.status, rank_died);
  EXPECT_EQ(verdict.line, "rank 0: rank 2 is gone");
}

TEST(Verdict, ARankWithoutALastWordHasDiedAndTheSignalIsTold) {
  const Verdict verdict = judge({ended, started}, {.code = 137});
  EXPECT_EQ(verdict.status, rank_died);
  EXPECT_THAT(verdict.line, HasSubstr("rank 1 died"));
  EXPECT_THAT(verdict.line, HasSubstr("signal 9"));
}

TEST(Verdict, ACrashIsADeathWithACause) {
  const Note crashed{.state = State::failed, .text = "crashed: signal 11", .utc_seconds = 2};
  const Verdict verdict =
      judge({failed(base::Fault::peer, "rank 1 is gone", 1), crashed}, {.code = 4});
  EXPECT_EQ(verdict.status, rank_died);
  EXPECT_EQ(verdict.line, "rank 1: crashed: signal 11");
}

TEST(Verdict, AStopThatARankDidNotLiveToSeeIsADeath) {
  EXPECT_EQ(judge({halted, started}, {.code = 137}).status, rank_died);
}

TEST(Verdict, ARankThatCouldLeaveNoNoteHasSpokenForItself) {
  const Verdict verdict = judge({started, std::nullopt}, {.code = 3});
  EXPECT_EQ(verdict.status, no_environment);
  EXPECT_EQ(verdict.line, "");
}

TEST(Verdict, AnEndThatWasNoneIsOurBug) {
  EXPECT_EQ(judge({ended}, {.code = 0, .signal = 11}).status, our_bug);
}

TEST(Verdict, EveryFaultHasItsStatus) {
  const auto status = [](base::Fault fault) { return judge({failed(fault, "x", 1)}, {}).status; };
  EXPECT_EQ(status(base::Fault::usage), 2);
  EXPECT_EQ(status(base::Fault::input), 2);
  EXPECT_EQ(status(base::Fault::environment), 3);
  EXPECT_EQ(status(base::Fault::peer), 4);
  EXPECT_EQ(status(base::Fault::bug), 5);
  EXPECT_EQ(status(base::Fault::not_a_number), 6);
}

TEST(Verdict, NoneStartedMeansNoNoteAtAll) {
  EXPECT_TRUE(none_started({std::nullopt, std::nullopt}));
  EXPECT_FALSE(none_started({std::nullopt, started}));
}

}  // namespace
}  // namespace parajoule::cli
