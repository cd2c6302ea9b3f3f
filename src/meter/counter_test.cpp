#include "meter/counter.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::meter {
namespace {

using base::Joules;
using base::Seconds;
using base::Watts;

constexpr double range = 262143.328850;

Counter rapl() { return Counter({.range = Joules{range}, .most = Watts{3000}}); }

double value(const Reading& reading) {
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

Gap::Cause cause(const Reading& reading) {
  EXPECT_TRUE(std::holds_alternative<Gap>(reading));
  return std::get<Gap>(reading).cause;
}

TEST(Counter, BeginsAtWhatTheDeviceShows) {
  Counter counter = rapl();
  EXPECT_EQ(value(counter.update(Joules{1234.5}, Seconds(7))), 1234.5);
  EXPECT_EQ(value(counter.update(Joules{1240}, Seconds(7.1))), 1240);
}

TEST(Counter, GoesOnThroughItsRange) {
  Counter counter = rapl();
  const double before = value(counter.update(Joules{262143}, Seconds(0)));
  const double after = value(counter.update(Joules{5}, Seconds(1)));
  EXPECT_NEAR(after - before, range - 262143 + 5, 1e-6);
}

TEST(Counter, ThreePassesBetweenTwoLooksOfTheUserAreAllCounted) {
  Counter counter = rapl();
  const double first = value(counter.update(Joules{0}, Seconds(0)));
  double last = first;
  for (int i = 1; i <= 900; ++i)  // 1000 W, read each second
    last = value(counter.update(Joules{std::fmod(1000.0 * i, range)}, Seconds(i)));
  EXPECT_NEAR(last - first, 900'000, 1e-3);
}

TEST(Counter, SaysThatAPassMayHaveBeenMissed) {
  Counter counter = rapl();
  counter.update(Joules{0}, Seconds(0));
  const Reading late = counter.update(Joules{1000}, Seconds(600));
  EXPECT_EQ(cause(late), Gap::Cause::missed_wrap);
  EXPECT_NEAR(value(counter.update(Joules{1001}, Seconds(600.1))), 1001, 1e-9);  // at least that
}

TEST(Counter, WithoutAKnownRangeAFallIsNoEnergyAndIsFlagged) {
  Counter counter({.range = {}, .most = Watts{3000}});
  counter.update(Joules{262143}, Seconds(0));
  EXPECT_EQ(cause(counter.update(Joules{5}, Seconds(0.1))), Gap::Cause::implausible);
  EXPECT_EQ(cause(counter.update(Joules{6}, Seconds(0.2))), Gap::Cause::reset);
  EXPECT_NEAR(value(counter.update(Joules{8}, Seconds(0.3))), 262143 + 3, 1e-6);
}

TEST(Counter, AResetIsNotAPass) {
  Counter counter = rapl();
  counter.update(Joules{100}, Seconds(0));
  EXPECT_EQ(cause(counter.update(Joules{3}, Seconds(0.1))), Gap::Cause::implausible);
  EXPECT_EQ(cause(counter.update(Joules{4}, Seconds(0.2))), Gap::Cause::reset);
  EXPECT_NEAR(value(counter.update(Joules{9}, Seconds(0.3))), 106, 1e-9);
}

TEST(Counter, ASlipForAWhileIsNoEnergyWhenItEnds) {
  Counter counter = rapl();
  counter.update(Joules{1000}, Seconds(0));
  counter.update(Joules{1005}, Seconds(0.1));
  double shown = 1005;
  for (int i = 2; i <= 9; ++i) {  // 50 W on another line
    const Reading reading = counter.update(Joules{500 + 5.0 * i}, Seconds(0.1 * i));
    if (const auto* value = std::get_if<double>(&reading)) shown = *value;
  }
  EXPECT_LE(shown, 1045);
  EXPECT_EQ(cause(counter.update(Joules{1050}, Seconds(1.0))), Gap::Cause::implausible);
  EXPECT_NEAR(value(counter.update(Joules{1055}, Seconds(1.1))), 1055, 1e-9);
}

TEST(Counter, OneOddReadingCostsNothing) {
  for (double odd : {0.0, 250'000.0}) {
    Counter counter = rapl();
    counter.update(Joules{1000}, Seconds(0));
    EXPECT_EQ(cause(counter.update(Joules{odd}, Seconds(0.1))), Gap::Cause::implausible);
    EXPECT_NEAR(value(counter.update(Joules{1020}, Seconds(0.2))), 1020, 1e-9);
  }
}

/// As of processors whose unit the kernel takes for another one.
TEST(Counter, APowerThatCannotLastIsNoEnergyHoweverOftenItIsRead) {
  for (double wait : {0.001, 0.1, 1.0}) {
    Counter counter = rapl();
    double last = value(counter.update(Joules{0}, Seconds(0)));
    for (int i = 1; i <= 20; ++i) {  // 10 kW
      const Reading reading = counter.update(Joules{10'000 * wait * i}, Seconds(wait * i));
      if (const auto* value = std::get_if<double>(&reading)) last = *value;
    }
    EXPECT_LE(last, 3000 * 0.5 * 10'000 / 7000) << wait;
  }
}

TEST(Counter, EnergyThatIsShownInStepsIsNotDoubted) {
  Counter counter = rapl();
  for (int i = 0; i <= 300; ++i)  // 2900 W, shown anew every half second
    EXPECT_EQ(value(counter.update(Joules{1450.0 * (i / 5)}, Seconds(0.1 * i))), 1450 * (i / 5));
}

TEST(Counter, StandingStillIsNoEnergy) {
  Counter counter = rapl();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(value(counter.update(Joules{7}, Seconds(i))), 7);
}

/// A device that draws random power, and its counter in whole steps that passes its range.
class Device {
 public:
  explicit Device(std::uint64_t seed) : random_{seed}, shown_(random_.uniform(0, range)) {}

  void run(Seconds time) {
    const double energy = random_.uniform(0, 900) * time.count();
    drawn += energy;
    shown_ = std::fmod(shown_ + energy, range);
  }
  void reset() { shown_ = 0; }
  Joules shown() const { return {std::floor(shown_ / step) * step}; }
  double uniform(double low, double high) { return random_.uniform(low, high); }

  static constexpr double step = 0x1p-14;
  double drawn = 0;

 private:
  base::Stream random_;
  double shown_;
};

TEST(Counter, IsWithinOneStepOfTheTruthHoweverItIsRead) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Device device(seed);
    Counter counter = rapl();
    Seconds now(0);
    const double first = value(counter.update(device.shown(), now));
    double last = first;
    for (int i = 0; i < 300; ++i) {
      // Mostly short, now and then as long as a pass cannot hide in.
      const Seconds wait(device.uniform(0, 1) < 0.9 ? device.uniform(1e-3, 0.3)
                                                    : device.uniform(1, 80));
      device.run(wait);
      now += wait;
      const double next = value(counter.update(device.shown(), now));
      ASSERT_GE(next, last);
      last = next;
    }
    ASSERT_NEAR(last - first, device.drawn, Device::step + 1e-6) << "seed " << seed;
  }
}

TEST(Counter, ResetsLoseOnlyWhatWasDrawnAroundThemAndAreAllTold) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Device device(seed);
    Counter counter = rapl();
    Seconds now(0);
    double first = 0, last = 0, may_be_lost = 0;
    int resets = 0, told = 0;
    bool was_reset = false;
    for (int i = 0; i < 500; ++i) {
      const Seconds wait(device.uniform(1e-3, 0.3));
      const double before = device.drawn;
      device.run(wait);
      now += wait;
      if (was_reset || (i % 50 == 25)) may_be_lost += device.drawn - before;
      was_reset = i % 50 == 25;
      // Close under the range a reset looks like a pass; everywhere else it must not.
      if (was_reset && device.shown() < Joules{range - 2500} && device.shown() > Joules{1}) {
        device.reset();
        ++resets;
      }
      const Reading reading = counter.update(device.shown(), now);
      if (const auto* value = std::get_if<double>(&reading)) {
        if (i == 0) first = *value;
        if (i == 0) device.drawn = 0;
        ASSERT_GE(*value, i == 0 ? 0 : last);
        last = *value;
      } else if (std::get<Gap>(reading).cause == Gap::Cause::reset) {
        ++told;
      }
    }
    ASSERT_EQ(told, resets) << "seed " << seed;
    ASSERT_LE(last - first, device.drawn + Device::step + 1e-6);
    ASSERT_GE(last - first, device.drawn - may_be_lost - Device::step - 1e-6) << "seed " << seed;
  }
}

}  // namespace
}  // namespace parajoule::meter
