#include "meter/observe.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Seconds;

/// A clock that goes on only when someone waits or reads.
struct MadeUpTime {
  double seconds = 100;
  Pace pace() {
    return {.now = [this] { return Seconds(seconds); },
            .pause = [this](Seconds time) { seconds += std::max(time.count(), 1e-6); }};
  }
};

/// A number that is renewed every `period`; a read takes `cost`.
std::unique_ptr<Source> renewed(MadeUpTime& time, double period, double cost, Quantity quantity,
                                std::optional<double> stated, double levels = 1e9) {
  Description description = described("thing", quantity);
  if (stated) description.update_period = Seconds(*stated);
  return made_up(description, [&time, period, cost, levels](Seconds) -> Reading {
    time.seconds += cost;
    return std::fmod(std::floor(time.seconds / period), levels);
  });
}

Observed watched(MadeUpTime& time, std::unique_ptr<Source> source, double length = 1) {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(source));
  return observe(sources, Seconds(length), time.pace()).at(0);
}

TEST(Observe, FindsHowOftenACounterIsRenewedAndWhatAReadCosts) {
  MadeUpTime time;
  const Observed found = watched(time, renewed(time, 0.05, 0.002, Quantity::energy, 0.1));
  ASSERT_TRUE(found.update);
  EXPECT_NEAR(found.update->count(), 0.05, 0.0126);  // as far as reads lie apart
  EXPECT_FALSE(found.quicker);
  EXPECT_NEAR(found.cost.count(), 0.002, 1e-9);
  EXPECT_TRUE(found.moved);
  EXPECT_EQ(found.failed, 0u);
}

TEST(Observe, SaysWhenADeviceIsQuickerThanItIsRead) {
  MadeUpTime time;
  const Observed found = watched(time, renewed(time, 1e-5, 0.001, Quantity::energy, 0.1));
  EXPECT_TRUE(found.quicker);
  ASSERT_TRUE(found.update);
  EXPECT_NEAR(found.update->count(), 0.0125, 0.001);
}

TEST(Observe, PowerThatOftenRepeatsItselfIsNotTakenForSlow) {
  MadeUpTime time;
  // Of six renewals in a row the numbers are 0 0 1 1 2 3: some repeat.
  Description description = described("thing", Quantity::power);
  description.update_period = Seconds(0.1);
  auto source = made_up(description, [&time](Seconds) -> Reading {
    static constexpr double shown[] = {0, 0, 1, 1, 2, 3};
    time.seconds += 1e-4;
    return shown[std::size_t(time.seconds / 0.1) % 6];
  });
  const Observed found = watched(time, std::move(source), 3);
  ASSERT_TRUE(found.update);
  EXPECT_NEAR(found.update->count(), 0.1, 0.0126);
}

TEST(Observe, OfWhatStandsStillNoPeriodIsMadeUp) {
  MadeUpTime time;
  const Observed found = watched(time, renewed(time, 1e9, 1e-4, Quantity::energy, 0.001));
  EXPECT_FALSE(found.moved);
  EXPECT_EQ(found.update, std::nullopt);
  EXPECT_GT(found.reads, 100u);
}

TEST(Observe, CountsFailuresAndTellsTheFirst) {
  MadeUpTime time;
  int reads = 0;
  const Observed found =
      watched(time, made_up(described("thing", Quantity::power), [&](Seconds) -> Reading {
                time.seconds += 0.01;
                return Gap{Gap::Cause::failed, "no answer " + std::to_string(++reads)};
              }));
  EXPECT_EQ(found.failed, found.reads);
  EXPECT_EQ(found.gap, "failed: no answer 1");
  EXPECT_FALSE(found.moved);
}

TEST(Observe, ASlowSourceDoesNotKeepAQuickOneFromBeingRead) {
  MadeUpTime time;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(renewed(time, 3, 0.02, Quantity::power, 2));
  sources.push_back(renewed(time, 0.001, 1e-5, Quantity::energy, 0.001));
  const auto found = observe(sources, Seconds(1), time.pace());
  EXPECT_GE(found[0].reads, 2u);
  EXPECT_LE(found[0].reads, 6u);
  EXPECT_GT(found[1].reads, 2000u);
  EXPECT_NEAR(found[1].update.value().count(), 0.001, 0.0003);
}

TEST(Observe, EachIsReadTwiceHoweverShortTheTime) {
  MadeUpTime time;
  EXPECT_EQ(watched(time, renewed(time, 1, 0.5, Quantity::power, 10), 0).reads, 2u);
  EXPECT_TRUE(observe({}, Seconds(1), time.pace()).empty());
}

}  // namespace
}  // namespace parajoule::meter
