#include "train/merged_phases.h"

#include <cmath>

#include <gtest/gtest.h>

#include "store/reader.h"
#include "store/record.h"
#include "store/summary.h"
#include "store/test_record.h"

namespace parajoule::train {
namespace {

using base::Seconds;
using Interval = Phases::Interval;

constexpr Seconds origin{1000};

std::vector<store::Phase> merged(const std::vector<Interval>& intervals) {
  MergedPhases phases(1, origin);
  std::vector<store::Phase> rows;
  for (const Interval& interval : intervals) phases.add({interval}, rows);
  phases.flush(rows);
  phases.flush(rows);  // a second time adds nothing
  return rows;
}

/// Steps of one rank: 2 ms of data, 3 ms forward, 5 ms backward, and 1 ms of nothing.
std::vector<Interval> short_steps(int count) {
  std::vector<Interval> intervals;
  for (int i = 0; i < count; ++i) {
    const Seconds at = origin + Seconds(0.011 * i);
    intervals.push_back({Phase::data_wait, at, at + Seconds(0.002)});
    intervals.push_back({Phase::forward, at + Seconds(0.002), at + Seconds(0.005)});
    intervals.push_back({Phase::backward, at + Seconds(0.005), at + Seconds(0.010)});
  }
  return intervals;
}

TEST(MergedPhases, LeavesLongSpansWhereTheyAre) {
  const auto rows = merged({{Phase::forward, origin + Seconds(1), origin + Seconds(2)},
                            {Phase::update, origin + Seconds(2.1), origin + Seconds(2.2)},
                            {Phase::evaluation, origin + Seconds(2.3), origin + Seconds(9)}});
  const std::vector<store::Phase> expected = {{1, "forward", Seconds(1), Seconds(2)},
                                              {1, "update", Seconds(2.1), Seconds(2.2)},
                                              {1, "evaluation", Seconds(2.3), Seconds(9)}};
  ASSERT_EQ(rows.size(), expected.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].name, expected[i].name);
    EXPECT_EQ(rows[i].rank, 1);
    EXPECT_NEAR(rows[i].begin.count(), expected[i].begin.count(), 1e-9);
    EXPECT_NEAR(rows[i].end.count(), expected[i].end.count(), 1e-9);
  }
}

TEST(MergedPhases, MakesFewRowsOfManyThatDoNotOverlap) {
  const auto intervals = short_steps(1000);  // 11 s
  const auto rows = merged(intervals);
  EXPECT_LE(rows.size(), 3u * 48);  // of 3000
  Seconds last{0};
  for (const store::Phase& row : rows) {
    EXPECT_GE(row.begin.count(), last.count() - 1e-9);
    EXPECT_LE((row.end - row.begin).count(), MergedPhases::window.count());
    last = row.end;
  }
  EXPECT_LE(last, Seconds(11));
}

/// What the table says of where the time went, of a record with these phases.
store::Summary summary_of(const std::vector<store::Phase>& rows) {
  const store::TemporaryFolder folder;
  store::Record record(store::options_in(folder));
  record.add(store::Setting{"settling_steps", "300", "file"});
  record.add(rows);
  for (int step = 0; step < 1000; ++step)
    record.add(store::Step{.rank = 1,
                           .step = step,
                           .seconds = Seconds(0.011 * step + 0.010),
                           .samples = 1,
                           .loss = 1,
                           .sent_bytes = 0,
                           .waited = {}});
  record.finish(store::State::done);
  return store::summarise(store::Reader(record.path()));
}

TEST(MergedPhases, TheTableSaysTheSame) {
  const auto intervals = short_steps(1000);
  std::vector<store::Phase> one_each;
  for (const Interval& each : intervals)
    one_each.push_back({1, std::string(store::phases[std::size_t(each.phase)]), each.begin - origin,
                        each.end - origin});
  const store::Summary before = summary_of(one_each);
  const store::Summary after = summary_of(merged(intervals));
  ASSERT_EQ(before.whole.shares.size(), after.whole.shares.size());
  ASSERT_TRUE(before.settled && after.settled);
  EXPECT_NEAR(before.whole.shares[2].fraction, 5.0 / 11, 1e-3);
  // Where the settled part begins one quarter of a second is cut through.
  const double cut = MergedPhases::window / after.settled->length();
  for (std::size_t i = 0; i < before.whole.shares.size(); ++i) {
    EXPECT_NEAR(before.whole.shares[i].fraction, after.whole.shares[i].fraction, 1e-9);
    EXPECT_NEAR(before.settled->shares[i].fraction, after.settled->shares[i].fraction, cut);
  }
}

}  // namespace
}  // namespace parajoule::train
