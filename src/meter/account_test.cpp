#include "meter/account.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Joules;
using base::Seconds;
using base::Watts;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

using Curve = std::function<double(double)>;

/// A source read at `hertz` from 0 to `end` whose values follow a curve.
Series follow(Description description, double end, double hertz, const Curve& curve) {
  Series series{std::move(description), {}};
  for (int i = 0; i <= int(end * hertz); ++i)
    series.rows.push_back({0, Seconds(i / hertz), curve(i / hertz)});
  return series;
}

Series counter(double end, const Curve& curve) {
  return follow(described("x", Quantity::energy), end, 10, curve);
}

Series power(double end, const Curve& curve) {
  return follow(described("x", Quantity::power), end, 10, curve);
}

Span from(double begin, double end) { return {Seconds(begin), Seconds(end)}; }

TEST(Account, OfACounterIsEndMinusStart) {
  const auto account =
      meter::account(counter(10, [](double t) { return 77 + 100 * t; }), from(2, 8));
  EXPECT_NEAR(account.energy->value, 600, 1e-9);
  EXPECT_NEAR(account.mean_power->value, 100, 1e-9);
  EXPECT_NEAR(account.peak_power->value, 100, 1e-9);
  EXPECT_NEAR(account.covered.count(), 6, 1e-12);
  EXPECT_THAT(account.remarks, IsEmpty());
}

TEST(Account, OfACounterIsInterpolatedAtBothEnds) {
  const auto account =
      meter::account(counter(10, [](double t) { return 100 * t; }), from(2.03, 8.07));
  EXPECT_NEAR(account.energy->value, 604, 1e-9);
}

TEST(Account, OfPowerIsTheTrapezoid) {
  // P = 10 t is a line, so the rule is exact: 5 (b^2 - a^2).
  const auto account = meter::account(power(10, [](double t) { return 10 * t; }), from(2.03, 8.07));
  EXPECT_NEAR(account.energy->value, 5 * (8.07 * 8.07 - 2.03 * 2.03), 1e-9);
  EXPECT_NEAR(account.peak_power->value, 80, 1e-9);
}

TEST(Account, SetsPowerBackByHalfItsWindow) {
  // The mean of the last second of P = 10 t is 10 (t - 1/2).
  Description averaged = described("x", Quantity::power);
  averaged.window = Seconds(1);
  const auto series = follow(averaged, 12, 10, [](double t) { return 10 * (t - 0.5); });
  EXPECT_NEAR(meter::account(series, from(2, 8)).energy->value, 5 * (64 - 4), 1e-9);
}

TEST(Account, OfPartsThatTileASpanAddsUpToTheWhole) {
  base::Stream random{5};
  double energy = 0;
  Series counted{described("x", Quantity::energy), {}};
  Series drawn{described("x", Quantity::power), {}};
  double now = 0;
  for (int i = 0; i < 300; ++i) {
    const double watts = random.uniform(10, 400);
    counted.rows.push_back({0, Seconds(now), energy});
    drawn.rows.push_back({0, Seconds(now), watts});
    const double wait = random.uniform(0.01, 0.2);
    now += wait;
    energy += watts * wait;
  }
  for (const Series& series : {counted, drawn}) {
    const Span whole = from(1, now - 1);
    double sum = 0, begin = 1;
    while (begin < now - 1) {
      const double end = std::min(begin + random.uniform(0.001, 3), now - 1);
      if (end <= begin) break;
      // A piece so short that nothing was counted in it has no number of its own.
      sum += meter::account(series, from(begin, end)).energy.value_or(Joules{0}).value;
      begin = end;
    }
    EXPECT_NEAR(sum, meter::account(series, whole).energy->value, 1e-6);
  }
}

TEST(Account, AGapCostsACounterNothing) {
  Series series = counter(10, [](double t) { return 100 * t; });
  for (int i = 20; i < 60; ++i) series.rows[i].reading = Gap{Gap::Cause::failed, "busy"};
  const auto account = meter::account(series, from(1, 9));
  EXPECT_NEAR(account.energy->value, 800, 1e-9);
  EXPECT_THAT(account.remarks, Contains(HasSubstr("40 times failed: busy")));
}

TEST(Account, AGapInPowerIsBridgedByALineAndMakesTheNumberLessSure) {
  // Up and down slowly, so that neighbours hardly differ.
  const Curve curve = [](double t) { return 100 + 50 * std::sin(t / 2); };
  Series series = power(30, curve);
  const auto whole = meter::account(series, from(1, 29));
  for (int i = 120; i < 140; ++i) series.rows[i].reading = Gap{Gap::Cause::failed, "busy"};
  const auto holed = meter::account(series, from(1, 29));
  EXPECT_GT(holed.uncertainty.resolution, whole.uncertainty.resolution);
  EXPECT_LE(std::abs((*holed.energy - *whole.energy).value), holed.uncertainty.resolution.value);
  EXPECT_NEAR(holed.covered.count(), 28, 1e-9);
}

TEST(Account, ALongOutageOfPowerIsNotFilledIn) {
  Series series = power(60, [](double) { return 100; });
  for (int i = 100; i < 400; ++i) series.rows[i].reading = Gap{Gap::Cause::failed, "gone"};
  const auto account = meter::account(series, from(0, 60));
  EXPECT_NEAR(account.covered.count(), 60 - 30.1, 1e-6);
  EXPECT_NEAR(account.energy->value, 100 * (60 - 30.1), 1e-6);
  EXPECT_NEAR(account.mean_power->value, 100, 1e-9);
  EXPECT_THAT(account.remarks, Contains(HasSubstr("speaks for 29.90 s of 60.00 s")));
}

TEST(Account, ASourceThatDiesSpeaksForItsTimeOnly) {
  const Series dead_at_five = counter(5, [](double t) { return 100 * t; });
  const auto account = meter::account(dead_at_five, from(0, 20));
  EXPECT_NEAR(account.energy->value, 500, 1e-9);
  EXPECT_NEAR(account.covered.count(), 5, 1e-9);
  EXPECT_THAT(account.remarks, Contains(HasSubstr("speaks for")));
}

TEST(Account, WhatStandsStillIsDeadAndNotZero) {
  const auto dead = meter::account(counter(10, [](double) { return 42; }), from(0, 10));
  EXPECT_EQ(dead.energy, std::nullopt);
  EXPECT_EQ(dead.mean_power, std::nullopt);
  EXPECT_THAT(dead.remarks, Contains(HasSubstr("dead")));
  const auto brief = meter::account(counter(10, [](double) { return 42; }), from(1, 1.2));
  EXPECT_EQ(brief.energy, std::nullopt);
  EXPECT_THAT(brief.remarks, Contains(HasSubstr("too short to be measured")));
}

TEST(Account, WithoutReadingsThereIsNoNumber) {
  Series nothing{described("x", Quantity::energy), {}};
  EXPECT_EQ(meter::account(nothing, from(0, 1)).energy, std::nullopt);
  nothing.rows = {{0, Seconds(0), Gap{Gap::Cause::failed, "no"}}, {0, Seconds(1), 5.0}};
  EXPECT_EQ(meter::account(nothing, from(0, 1)).energy, std::nullopt);
  const Series elsewhere = power(5, [](double) { return 1; });
  EXPECT_EQ(meter::account(elsewhere, from(50, 60)).energy, std::nullopt);
  EXPECT_EQ(meter::account(counter(5, [](double t) { return t; }), from(50, 60)).energy,
            std::nullopt);
}

TEST(Account, AResetIsToldAndMakesTheNumberLessSure) {
  Series series = counter(10, [](double t) { return 100 * t; });
  const auto whole = meter::account(series, from(0, 10));
  for (std::size_t i = 52; i < series.rows.size(); ++i)  // two readings lost 20 J
    std::get<double>(series.rows[i].reading) -= 20;
  series.rows[50].reading = Gap{Gap::Cause::implausible, "went from 490 J to 0 J"};
  series.rows[51].reading = Gap{Gap::Cause::reset, "began anew"};
  const auto account = meter::account(series, from(0, 10));
  EXPECT_NEAR(account.energy->value, 980, 1e-9);
  EXPECT_THAT(account.remarks, Contains(HasSubstr("reset: began anew")));
  EXPECT_GT(account.uncertainty.resolution.value, 20);
  EXPECT_GT(account.uncertainty.resolution, whole.uncertainty.resolution);
}

TEST(Account, ASpanOfAFewUpdatesIsSaidToBeShort) {
  Description coarse = described("x", Quantity::energy);
  coarse.update_period = Seconds(0.1);
  const Series series = follow(coarse, 10, 10, [](double t) { return 100 * t; });
  EXPECT_THAT(meter::account(series, from(3, 3.1)).remarks, Contains(HasSubstr("too short")));
  EXPECT_THAT(meter::account(series, from(3, 9)).remarks, IsEmpty());
}

TEST(Account, OtherQuantitiesHaveNoEnergy) {
  const Series share =
      follow(described("x", Quantity::utilisation), 5, 10, [](double) { return 1; });
  EXPECT_EQ(meter::account(share, from(0, 5)).energy, std::nullopt);
}

TEST(Account, IsTheSameFromStoredWords) {
  Series series = counter(10, [](double t) { return 100 * t; });
  series.rows[50].reading = Gap{Gap::Cause::reset, "began anew"};
  Series stored = series;
  for (Row& row : stored.rows)
    if (auto* gap = std::get_if<Gap>(&row.reading)) row.reading = parse_gap(written(*gap));
  EXPECT_EQ(stored.rows, series.rows);
}

// What counts -----------------------------------------------------------------------------------

Series constant(Description description, double watts) {
  const bool counts = description.quantity == Quantity::energy;
  return follow(std::move(description), 10, 10,
                [=](double t) { return counts ? 5 + watts * t : watts; });
}

Description part(std::string device, std::string whole) {
  Description description = described(std::move(device), Quantity::energy);
  description.part_of = std::move(whole);
  return description;
}

double measured(const std::vector<Series>& series) {
  return account(series, from(0, 10)).totals.measured->energy().value;
}

TEST(Totals, CountAPartWithItsWholeOnly) {
  EXPECT_NEAR(measured({constant(described("package-0", Quantity::energy), 100),
                        constant(part("package-0 core", "package-0"), 80),
                        constant(described("package-0 dram", Quantity::energy), 20)}),
              1200, 1e-6);
  EXPECT_NEAR(measured({constant(part("package-0 core", "package-0"), 80),
                        constant(part("package-0", "platform"), 100),
                        constant(part("package-0 dram", "platform"), 20),
                        constant(described("platform", Quantity::energy), 150)}),
              1500, 1e-6);
}

TEST(Totals, CountThePartsOfAWholeThatHasNoNumber) {
  EXPECT_NEAR(measured({constant(described("platform", Quantity::energy), 0),  // stands still
                        constant(part("package-0", "platform"), 100),
                        constant(part("package-0 core", "package-0"), 80),
                        constant(part("package-1", "a device nobody knows"), 10)}),
              1100, 1e-6);
}

TEST(Totals, CountThePartsOfAWholeThatDiedOnTheWay) {
  Series platform = constant(described("platform", Quantity::energy), 150);
  platform.rows.resize(40);
  const std::vector<Series> series = {platform, constant(part("package-0", "platform"), 100)};
  const NodeAccount node = account(series, from(0, 10));
  EXPECT_NEAR(node.totals.measured->energy().value, 1000, 1e-6);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("its parts, which count")));
  EXPECT_FALSE(node.sources[0].counts);
  EXPECT_TRUE(node.sources[1].counts);
}

TEST(Totals, CountAWholeThatMissesAMomentAndNotItsParts) {
  Series package = constant(described("package-0", Quantity::energy), 60);
  package.rows.resize(package.rows.size() * 9 / 10);
  const std::vector<Series> series = {package, constant(part("package-0 core", "package-0"), 40)};
  const NodeAccount node = account(series, from(0, 10));
  EXPECT_TRUE(node.sources[0].counts && !node.sources[1].counts);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("speaks for")));
}

TEST(Totals, CountADeviceOnceAndByItsCounter) {
  EXPECT_NEAR(measured({constant(described("GPU 0", Quantity::power), 300),
                        constant(described("GPU 0", Quantity::energy), 310),
                        constant(described("GPU 1", Quantity::energy), 200),
                        constant(described("GPU 1", Quantity::power), 190)}),
              5100, 1e-6);
  EXPECT_NEAR(measured({constant(described("GPU 0", Quantity::power), 300),
                        constant(described("GPU 0", Quantity::energy), 0)}),
              3000, 1e-6);
}

TEST(Totals, EndureDevicesThatArePartsOfEachOther) {
  const std::vector<Series> series = {constant(part("a", "b"), 1), constant(part("b", "a"), 2),
                                      constant(part("c", "c"), 3)};
  EXPECT_EQ(account(series, from(0, 10)).sources.size(), 3u);
}

TEST(Totals, KeepLabelsApart) {
  const std::vector<Series> series = {
      constant(described("package-0", Quantity::energy), 100),
      constant(described("memory", Quantity::energy, Label::modelled), 7)};
  const Totals totals = account(series, from(0, 10)).totals;
  EXPECT_NEAR(totals.measured->energy().value, 1000, 1e-6);
  EXPECT_NEAR(totals.modelled->energy().value, 70, 1e-6);
  EXPECT_FALSE(totals.simulated);
}

TEST(Totals, OfNothingAreNotZero) {
  const std::vector<Series> series = {constant(described("platform", Quantity::energy), 0)};
  EXPECT_FALSE(account(series, from(0, 10)).totals.measured);
}

template <class A, class B>
concept CanBeAdded = requires(A a, B b) { a += b; };
template <class A, class B>
concept CanBeSummed = requires(A a, B b) { a + b; };
using Measured = Total<Label::measured>;
using Modelled = Total<Label::modelled>;
static_assert(CanBeAdded<Measured, Measured>);
static_assert(!CanBeAdded<Measured, Modelled> && !CanBeAdded<Modelled, Measured>);
static_assert(!CanBeSummed<Measured, Modelled>);
static_assert(!std::is_convertible_v<Measured, Modelled>);

TEST(Totals, OfNodesAddUp) {
  const std::vector<Series> series = {constant(described("package-0", Quantity::energy), 100)};
  Totals sum;
  for (int node = 0; node < 3; ++node) sum += account(series, from(0, 10)).totals;
  EXPECT_NEAR(sum.measured->energy().value, 3000, 1e-6);
  EXPECT_FALSE(sum.modelled);
}

// How sure --------------------------------------------------------------------------------------

TEST(Uncertainty, OfTheSensorsTypeAddsUpAndOfEachSourceAddsAsSquares) {
  Measured total;
  for (int i = 0; i < 64; ++i)
    total.add(Joules{100}, {.resolution = Joules{3}, .bias = Joules{5}}, "gpu");
  EXPECT_NEAR(total.uncertainty().bias.value, 64 * 5, 1e-9);
  EXPECT_NEAR(total.uncertainty().resolution.value, 8 * 3, 1e-9);
  total.add(Joules{100}, {.resolution = Joules{0}, .bias = Joules{240}}, "cpu");
  EXPECT_NEAR(total.uncertainty().bias.value, 400, 1e-9);
  EXPECT_NEAR(total.uncertainty().whole().value, std::hypot(400, 24), 1e-9);
}

/// GPUs with a bias common to all, and noise of their own.
std::vector<Series> noisy_gpus(base::Stream& random, int count) {
  Description gpu = described("", Quantity::power);
  gpu.bias_relative = 0.057;
  const double bias = 1 + 0.057 / 1.96 * random.normal();
  std::vector<Series> series;
  for (int i = 0; i < count; ++i) {
    gpu.device = "GPU " + std::to_string(i);
    series.push_back(follow(gpu, 4, 10, [&](double) { return bias * 300 + 60 * random.normal(); }));
  }
  return series;
}

TEST(Uncertainty, HoldsTheTruthInNineteenOfTwentyTrials) {
  constexpr int trials = 2000;
  base::Stream random{11};
  for (int count : {1, 8, 64}) {
    int held = 0;
    double bias = 0;
    for (int trial = 0; trial < trials; ++trial) {
      const auto total = *account(noisy_gpus(random, count), from(0, 4)).totals.measured;
      const double error = total.energy().value - count * 300 * 4;
      held += std::abs(error) <= total.uncertainty().whole().value;
      bias = total.uncertainty().bias.value;
    }
    EXPECT_GE(held, 0.93 * trials) << count << " GPUs";
    EXPECT_LE(held, 0.97 * trials) << count << " GPUs";
    EXPECT_NEAR(bias, 0.057 * count * 1200, 0.2 * 0.057 * count * 1200);
  }
}

TEST(Uncertainty, OfACounterHoldsTheTruthWhateverItsPhase) {
  constexpr int trials = 2000;
  base::Stream random{12};
  int held = 0;
  Description coarse = described("x", Quantity::energy);
  coarse.update_period = Seconds(0.1);
  for (int trial = 0; trial < trials; ++trial) {
    // 200 W, shown anew every 0.1 s at a phase of its own, read at moments of our own.
    const double phase = random.uniform(0, 0.1);
    Series series{coarse, {}};
    for (double now = 0; now < 3; now += random.uniform(0.02, 0.1))
      series.rows.push_back(
          {0, Seconds(now), 200 * (std::floor((now - phase) / 0.1) * 0.1 + phase) + 1000});
    const double begin = random.uniform(0.3, 1), end = random.uniform(1.5, 2.5);
    const auto account = meter::account(series, from(begin, end));
    const double error = account.energy->value - 200 * (end - begin);
    held += std::abs(error) <= account.uncertainty.resolution.value;
  }
  EXPECT_GE(held, 0.93 * trials);
}

// Ratios ----------------------------------------------------------------------------------------

/// Published means of ResNet-50 on 8 and 256 A100 (arXiv:2508.07706).
TEST(Figures, AreThoseOfAPublishedRun) {
  Totals totals;
  totals.add(Label::measured, Joules{0.9389 * 3.6e6}, {}, "gpu");
  const Figures eight = figures(totals, {.devices = 8,
                                         .wall = Seconds(3.482 / 8 * 3600),
                                         .samples = 40036 * 100,
                                         .passes = 40036 * 100 / 256});
  EXPECT_NEAR(eight.device_hours, 3.482, 1e-9);
  EXPECT_NEAR(eight.samples_per_device_hour, 1.1498e6, 100);
  EXPECT_NEAR(eight.passes_per_device_hour, 4491, 1);
  EXPECT_NEAR(eight.measured->kilowatt_hours_per_device_hour, 0.2696, 1e-4);
  EXPECT_NEAR(*eight.measured->watt_hours_per_1000_samples, 0.2345, 1e-4);
  EXPECT_FALSE(eight.modelled);
}

TEST(Figures, WithoutSamplesHaveNoEnergyPerSample) {
  Totals totals;
  totals.add(Label::modelled, Joules{3.6e6}, {}, "cpu");
  const Figures none = figures(totals, {.devices = 2, .wall = Seconds(3600)});
  EXPECT_EQ(none.modelled->watt_hours_per_1000_samples, std::nullopt);
  EXPECT_NEAR(none.modelled->kilowatt_hours_per_device_hour, 0.5, 1e-12);
  EXPECT_FALSE(none.measured);
}

}  // namespace
}  // namespace parajoule::meter
