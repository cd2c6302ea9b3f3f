#include "store/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_record.h"

namespace parajoule::store {
namespace {

using base::Seconds;
using testing::DoubleNear;

/// Two ranks that take three steps of 10 s each, from 5 s on, and evaluate for 5 s; a third serves.
///
///   0    5                       35    40   s
///        | step 0 | step 1 | step 2 | eval |
Summary summary_of(std::optional<int> settling, std::int64_t first_step = 0) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  const Example example;
  if (settling) record.add(Setting{"settling_steps", std::to_string(*settling), "file"});
  record.add(example.node);
  record.add(example.package);
  for (const double at : {2.0, 17.0, 42.0})
    record.add(std::vector<Reading>{{.source = 0, .seconds = Seconds(at), .value = 100 * at}});
  for (int step = 0; step < 3; ++step)
    for (int rank = 0; rank < 3; ++rank) {
      const Seconds begin(5 + 10 * step);
      const bool trains = rank < 2;
      record.add(Phase{rank, "data_wait", begin, begin + Seconds(1)});
      record.add(Phase{rank, "forward", begin + Seconds(1), begin + Seconds(4)});
      record.add(Phase{rank, "backward", begin + Seconds(4), begin + Seconds(9)});
      record.add(Step{.rank = rank,
                      .step = first_step + step,
                      .seconds = begin + Seconds(10),
                      .samples = trains ? 64 - 32 * (step == 2) : 0,
                      .loss = 1,
                      .sent_bytes = 1000,
                      .waited = Seconds(0.5)});
    }
  for (int rank = 0; rank < 2; ++rank)
    record.add(Phase{rank, "evaluation", Seconds(35), Seconds(40)});
  for (int epoch = 0; epoch < 2; ++epoch) {
    record.add(Epoch{epoch, Seconds(38), "validation", "top1_error", 20.0 - epoch, 100});
    record.add(Epoch{epoch, Seconds(38), "training", "loss", 50.0 - epoch, 100});
  }
  record.finish(State::done);
  return summarise(Reader(record.path()));
}

double share(const Stretch& stretch, std::string_view phase) {
  for (const Share& each : stretch.shares)
    if (each.phase == phase) return each.fraction;
  return -1;
}

TEST(Summary, GivesTheScoresOfTheLastEpoch) {
  const Summary summary = summary_of({});
  EXPECT_EQ(summary.epochs, 2);
  ASSERT_EQ(summary.scores.size(), 2u);
  EXPECT_EQ(summary.scores[0].epoch, 1);
  EXPECT_EQ(summary.scores[0].metric, "top1_error");
  EXPECT_DOUBLE_EQ(summary.scores[0].value, 0.19);
  EXPECT_DOUBLE_EQ(summary.scores[1].value, 0.49);
}

TEST(Summary, CountsTheWorkOfTheMeteredTime) {
  const Summary summary = summary_of({});
  EXPECT_EQ(summary.whole.begin, Seconds(2));
  EXPECT_EQ(summary.whole.end, Seconds(42));
  EXPECT_EQ(summary.whole.devices, 2);  // the third rank takes no samples
  EXPECT_EQ(summary.whole.samples, 2 * (64 + 64 + 32));
  EXPECT_EQ(summary.whole.passes, 6);
  EXPECT_EQ(summary.whole.sent_bytes, 9000);
  EXPECT_EQ(summary.whole.waited, Seconds(4.5));
  EXPECT_FALSE(summary.settled);
}

TEST(Summary, SharesTheTimeOfRanksThatTrain) {
  const Stretch whole = summary_of({}).whole;
  EXPECT_NEAR(share(whole, "data_wait"), 3 / 40.0, 1e-12);
  EXPECT_NEAR(share(whole, "forward"), 9 / 40.0, 1e-12);
  EXPECT_NEAR(share(whole, "backward"), 15 / 40.0, 1e-12);
  EXPECT_NEAR(share(whole, "exposed_communication"), 0, 1e-12);
  EXPECT_NEAR(share(whole, "evaluation"), 5 / 40.0, 1e-12);
  EXPECT_NEAR(share(whole, "other"), 8 / 40.0, 1e-12);
}

TEST(Summary, LeavesSettlingStepsOutOfTheSecondSet) {
  const Summary summary = summary_of(1);
  ASSERT_TRUE(summary.settled);
  EXPECT_EQ(summary.settled->begin, Seconds(15));
  EXPECT_EQ(summary.settled->end, Seconds(42));
  EXPECT_EQ(summary.settled->samples, 2 * (64 + 32));
  EXPECT_EQ(summary.settled->passes, 4);
  EXPECT_EQ(summary.settled->devices, 2);
  EXPECT_NEAR(share(*summary.settled, "forward"), 6 / 27.0, 1e-12);
  EXPECT_EQ(summary.whole.passes, 6);
}

TEST(Summary, CountsSettlingStepsFromWhereTheRunWasResumed) {
  const Summary summary = summary_of(2, 1000);
  ASSERT_TRUE(summary.settled);
  EXPECT_EQ(summary.settled->begin, Seconds(25));
  EXPECT_EQ(summary.settled->passes, 2);
}

TEST(Summary, HasNoSecondSetIfNothingIsLeft) {
  EXPECT_FALSE(summary_of(3).settled);
  EXPECT_FALSE(summary_of(1000).settled);
  EXPECT_FALSE(summary_of(0).settled);
}

TEST(Summary, OfARecordWithoutRowsHasNothing) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  const Summary summary = summarise(Reader(record.path()));
  EXPECT_EQ(summary.standing, Standing::running);
  EXPECT_EQ(summary.whole.devices, 0);
  EXPECT_TRUE(summary.whole.shares.empty());
  EXPECT_TRUE(summary.scores.empty());
}

}  // namespace
}  // namespace parajoule::store
