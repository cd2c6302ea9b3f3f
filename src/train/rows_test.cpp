#include "train/rows.h"

#include <atomic>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "comm/threads.h"
#include "store/test_record.h"

namespace parajoule::train {
namespace {

using base::Seconds;

Rows one_of_each() {
  const store::Example example;
  return {
      .nodes = {example.node},
      .sources = {example.package, example.memory},
      .readings = example.readings,
      .phases = {example.phase},
      .steps = {example.step},
      .notes = {example.note,
                {.seconds = Seconds(1), .severity = store::Severity::error, .text = "of no rank"}},
      .settings = {{"update_period.3", "0.5", "sensors 2025-11-30T10:11:12.123Z"}},
      .drawings = {
          {.node = 2,
           .energy = {.modelled_energy = base::Joules{5}, .modelled_power = base::Watts{0.25}}}}};
}

TEST(Rows, TravelUnchanged) {
  const Rows rows = one_of_each();
  EXPECT_FALSE(rows.empty());
  EXPECT_EQ(decoded(encoded(rows)), rows);
  EXPECT_TRUE(decoded(encoded({})).empty());
}

TEST(Rows, KeepALossThatIsNoNumber) {
  Rows rows = one_of_each();
  rows.steps[0].loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(decoded(encoded(rows)).steps[0].loss));
  rows.steps[0].loss = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decoded(encoded(rows)), rows);
}

TEST(RowStream, BringsEveryRowOfEveryRankOnceAndInItsOrder) {
  constexpr int ranks = 4, steps = 200;
  std::vector<Rows> arrived;
  comm::Threads(ranks).run([&](comm::Communicator& group) {
    RowStream stream(group, [&](Rows rows) {
      EXPECT_EQ(group.rank(), 0);
      arrived.push_back(std::move(rows));
    });
    for (int step = 0; step < steps; ++step) {
      stream.waiting().steps.push_back({.rank = group.rank(),
                                        .step = step,
                                        .seconds = Seconds(0.1 * step),
                                        .samples = 1,
                                        .loss = 0,
                                        .sent_bytes = 0,
                                        .waited = {}});
      stream.move(Seconds(0.1 * step));
      if (step == steps / 2) stream.drain();
    }
    stream.drain();
    EXPECT_TRUE(stream.waiting().empty());
  });
  std::vector<int> next(ranks);
  for (const Rows& rows : arrived)
    for (const store::Step& step : rows.steps) EXPECT_EQ(step.step, next[step.rank]++);
  for (const int count : next) EXPECT_EQ(count, steps);
}

TEST(RowStream, WaitsForTheRowsOfARankBehindWhateverARankAheadHasSent) {
  int arrived = 0;
  comm::Threads(3).run([&](comm::Communicator& group) {
    RowStream stream(group, [&](Rows rows) { arrived += int(rows.notes.size()); });
    const bool ahead = group.rank() == 2;  // with nothing to tell
    for (int turn = 1; turn <= 2; ++turn) {
      if (!ahead && turn == 1) group.barrier();
      stream.move(Seconds(turn));
      if (!ahead) stream.waiting().notes.push_back({{}, group.rank(), store::Severity::note, "x"});
      stream.drain();
      if (group.rank() == 0) {
        EXPECT_GE(arrived, 2 * turn);  // more if rank 1 is ahead too
      }
    }
    if (ahead) group.barrier();
  });
}

TEST(RowStream, SendsAsOftenAsItSays) {
  std::atomic<int> messages = 0;
  comm::Threads(2).run([&](comm::Communicator& group) {
    RowStream stream(group, [&](Rows rows) { messages += int(!rows.notes.empty()); });
    for (double now = 1; now < 4; now += 0.01) {
      if (group.rank() == 1)
        stream.waiting().notes.push_back({Seconds(now), 1, store::Severity::note, "x"});
      stream.move(Seconds(now));
      group.barrier();  // rank 0 takes what has come
    }
    stream.drain();
  });
  EXPECT_GE(messages, 9);  // 3 s in steps of 0.3 s
  EXPECT_LE(messages, 12);
}

}  // namespace
}  // namespace parajoule::train
