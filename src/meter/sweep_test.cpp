#include "meter/sweep.h"

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/live.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::SizeIs;

/// Clocks that go when told.
struct Hands {
  Seconds now{0};
  Seconds asleep{0};
  Clock clock() {
    return {.now = [this] { return now; }, .asleep = [this] { return asleep; }};
  }
};

std::vector<std::unique_ptr<Source>> one(std::unique_ptr<Source> source) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  return sources;
}

double value(const Row& row) { return std::get<double>(row.reading); }
Gap gap(const Row& row) { return std::get<Gap>(row.reading); }

TEST(Sweep, GivesOneRowASourceAtTheMiddleOfItsRead) {
  Hands hands;
  std::vector<std::unique_ptr<Source>> sources;
  for (double power : {100.0, 200.0})
    sources.push_back(made_up(described("x", Quantity::power), [&hands, power](Seconds) {
      hands.now += Seconds(0.004);
      return power;
    }));
  Sweep sweep(std::move(sources), hands.clock(), Seconds(0.1));
  const auto rows = sweep.round();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].source, 0u);
  EXPECT_EQ(value(rows[0]), 100);
  EXPECT_NEAR(rows[0].at.count(), 0.002, 1e-12);
  EXPECT_NEAR(rows[1].at.count(), 0.006, 1e-12);
  EXPECT_NEAR(sweep.longest().count(), 0.008, 1e-12);
}

TEST(Sweep, AFailedReadIsAGapWithACauseAndNeverZero) {
  Hands hands;
  int read = 0;
  Sweep sweep(one(made_up(described("x", Quantity::power),
                          [&](Seconds) -> Reading {
                            switch (read++) {
                              case 0:
                                throw std::runtime_error("the bus is gone");
                              case 1:
                                return std::numeric_limits<double>::quiet_NaN();
                              case 2:
                                return std::numeric_limits<double>::infinity();
                              default:
                                return Gap{Gap::Cause::failed, "busy"};
                            }
                          })),
              hands.clock(), Seconds(0.1));
  std::vector<Gap> gaps;
  for (int i = 0; i < 4; ++i) {
    gaps.push_back(gap(sweep.round().at(0)));
    hands.now += Seconds(0.1);
  }
  EXPECT_EQ(gaps[0], (Gap{Gap::Cause::failed, "the bus is gone"}));
  EXPECT_EQ(gaps[1].cause, Gap::Cause::implausible);
  EXPECT_EQ(gaps[2].cause, Gap::Cause::implausible);
  EXPECT_EQ(gaps[3], (Gap{Gap::Cause::failed, "busy"}));
}

TEST(Sweep, WhatTheMachineDidAsleepIsNotTheRuns) {
  Hands hands;
  double joules = 1000;
  Sweep sweep(one(made_up(described("x", Quantity::energy), [&](Seconds) { return joules; })),
              hands.clock(), Seconds(0.1));
  EXPECT_EQ(value(sweep.round().at(0)), 1000);
  hands.now += Seconds(0.1);
  joules += 5;
  EXPECT_EQ(value(sweep.round().at(0)), 1005);
  hands.now += Seconds(0.1);
  hands.asleep += Seconds(3600);
  joules += 7000;
  const auto rows = sweep.round();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(gap(rows[0]).cause, Gap::Cause::suspended);
  EXPECT_THAT(gap(rows[0]).detail, HasSubstr("3600.0 s"));
  EXPECT_EQ(value(rows[1]), 1005);
  hands.now += Seconds(0.1);
  joules += 4;
  EXPECT_EQ(value(sweep.round().at(0)), 1009);
}

TEST(Sweep, ACounterThatBeganAnewDuringSleepStaysWhereItWas) {
  Hands hands;
  double joules = 1000;
  Sweep sweep(one(made_up(described("x", Quantity::energy), [&](Seconds) { return joules; })),
              hands.clock(), Seconds(0.1));
  sweep.round();
  hands.now += Seconds(0.1);
  hands.asleep += Seconds(5);
  joules = 2;
  EXPECT_EQ(value(sweep.round().at(1)), 1000);
  joules = 3;
  hands.now += Seconds(0.1);
  EXPECT_EQ(value(sweep.round().at(0)), 1001);
}

TEST(Sweep, RoundsThatCameTooLateAreRecorded) {
  Hands hands;
  Sweep sweep(one(made_up(described("x", Quantity::power), [](Seconds) { return 1.0; })),
              hands.clock(), Seconds(0.1));
  EXPECT_THAT(sweep.round(), SizeIs(1));
  EXPECT_NEAR(sweep.next().count(), 0.1, 1e-12);
  hands.now = Seconds(0.45);  // those of 0.1, 0.2 and 0.3 did not happen
  const auto rows = sweep.round();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(gap(rows[0]), (Gap{Gap::Cause::late, "3 rounds left out"}));
  EXPECT_NEAR(rows[0].at.count(), 0.1, 1e-12);
  EXPECT_EQ(value(rows[1]), 1);
  EXPECT_EQ(sweep.left_out(), 3u);
  EXPECT_NEAR(sweep.next().count(), 0.5, 1e-12);
}

TEST(Sweep, DoesNotReadMoreOftenThanTheDeviceRenewsItsNumber) {
  Hands hands;
  Description slow = described("x", Quantity::power);
  slow.update_period = Seconds(0.5);
  int reads = 0;
  Sweep sweep(one(made_up(slow,
                          [&](Seconds) {
                            ++reads;
                            return 1.0;
                          })),
              hands.clock(), Seconds(0.1));
  for (int i = 0; i < 50; ++i) {
    sweep.round();
    hands.now += Seconds(0.1);
  }
  EXPECT_EQ(reads, 10);
  sweep.whole_round();
  EXPECT_EQ(reads, 11);
}

TEST(Sweep, WakesForRoundsInWhichASourceIsDueAndOnceASecond) {
  const auto waits = [](std::vector<double> periods) {
    Hands hands;
    std::vector<std::unique_ptr<Source>> sources;
    for (const double period : periods) {
      Description slow = described("x", Quantity::power);
      slow.update_period = Seconds(period);
      sources.push_back(made_up(slow, [](Seconds) { return 1.0; }));
    }
    Sweep sweep(std::move(sources), hands.clock(), Seconds(0.1));
    std::vector<int> tenths;
    for (int i = 0; i < 4; ++i) {
      i == 0 ? sweep.whole_round() : sweep.round();
      tenths.push_back(int(std::lround((sweep.next() - hands.now) / Seconds(0.1))));
      hands.now = sweep.next();
    }
    EXPECT_EQ(sweep.left_out(), 0u);
    return tenths;
  };
  EXPECT_THAT(waits({0.001}), testing::ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(waits({0.5}), testing::ElementsAre(5, 5, 5, 5));
  EXPECT_THAT(waits({0.5, 0.3}), testing::ElementsAre(3, 2, 1, 3));  // at 0.3 0.5 0.6 0.9
  EXPECT_THAT(waits({60}), testing::ElementsAre(10, 10, 10, 10));
  EXPECT_THAT(waits({}), testing::ElementsAre(10, 10, 10, 10));
}

TEST(Sweep, AsksADeadDeviceOnceASecond) {
  Hands hands;
  int reads = 0;
  bool alive = false;
  Sweep sweep(one(made_up(described("x", Quantity::power),
                          [&](Seconds) -> Reading {
                            ++reads;
                            if (alive) return 1.0;
                            return Gap{Gap::Cause::failed, "gone"};
                          })),
              hands.clock(), Seconds(0.1));
  const auto run = [&](int rounds) {
    const int before = reads;
    for (int i = 0; i < rounds; ++i) {
      sweep.round();
      hands.now += Seconds(0.1);
    }
    return reads - before;
  };
  EXPECT_EQ(run(11), 11);
  EXPECT_EQ(run(100), 10);
  alive = true;
  run(10);
  EXPECT_EQ(run(50), 50);
}

TEST(NodeClock, GoesForwardFromItsStart) {
  const Clock clock = node_clock(std::chrono::steady_clock::now());
  const Seconds first = clock.now();
  EXPECT_GE(first, Seconds(0));
  EXPECT_GE(clock.now(), first);
  EXPECT_GE(clock.asleep(), Seconds(-0.01));
}

TEST(Live, AddsCountersAndPowersUp) {
  const std::vector<Description> sources = {described("a", Quantity::energy),
                                            described("b", Quantity::power),
                                            described("c", Quantity::utilisation)};
  LiveState state(sources);
  EXPECT_EQ(state.now().at(0).energy, std::nullopt);
  for (int i = 0; i <= 40; ++i) {
    const Seconds at(0.1 * i);
    state.add({0, at, 500 + 100 * at.count()});
    state.add({1, at, i < 20 ? 50.0 : 150.0});
    state.add({2, at, 0.5});
  }
  const auto live = state.now();
  EXPECT_NEAR(live[0].energy->value, 400, 1e-9);
  EXPECT_NEAR(live[0].power->value, 100, 1e-9);
  EXPECT_NEAR(live[1].energy->value, 1.9 * 50 + 0.1 * 100 + 2 * 150, 1e-9);
  EXPECT_NEAR(live[1].power->value, 150, 1e-9);  // of the last second
  EXPECT_EQ(live[2].energy, std::nullopt);
  EXPECT_EQ(live[2].value, 0.5);
}

TEST(Live, ACounterThatHasNotMovedHasNoEnergy) {
  const std::vector<Description> sources = {described("a", Quantity::energy)};
  LiveState state(sources);
  for (int i = 0; i < 30; ++i) state.add({0, Seconds(0.1 * i), 42.0});
  EXPECT_EQ(state.now()[0].energy, std::nullopt);
  EXPECT_EQ(state.now()[0].power, std::nullopt);
  EXPECT_EQ(state.now()[0].value, 42);
}

TEST(Live, TellsAGapUntilTheNextValue) {
  const std::vector<Description> sources = {described("a", Quantity::energy)};
  LiveState state(sources);
  state.add({0, Seconds(0), 1.0});
  state.add({0, Seconds(1), Gap{Gap::Cause::failed, "busy"}});
  EXPECT_EQ(state.now()[0].gap, (Gap{Gap::Cause::failed, "busy"}));
  EXPECT_EQ(state.now()[0].value, 1);
  state.add({0, Seconds(2), 5.0});
  EXPECT_EQ(state.now()[0].gap, std::nullopt);
  EXPECT_EQ(state.now()[0].energy->value, 4);
}

}  // namespace
}  // namespace parajoule::meter
