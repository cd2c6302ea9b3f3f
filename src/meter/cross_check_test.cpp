#include "meter/cross_check.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"
#include "meter/made_up_nvml.h"
#include "meter/made_up_source.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

Description gpu(Quantity quantity) {
  Description description = described("GPU 0", quantity);
  description.device_kind = "gpu";
  description.bias_relative = 0.08;
  description.resolution = 1e-3;
  description.update_period = Seconds(0.1);
  description.window = Seconds(0);
  return description;
}

Series follow(Quantity quantity, double end, const std::function<double(double)>& curve) {
  Series series{gpu(quantity), {}};
  for (int i = 0; i <= int(end * 10); ++i)
    series.rows.push_back({0, Seconds(i / 10.0), curve(i / 10.0)});
  return series;
}

/// A GPU at 300 W for ten seconds.
std::vector<Series> pair(const std::function<double(double)>& counter) {
  return {follow(Quantity::energy, 10, counter),
          follow(Quantity::power, 10, [](double) { return 300; })};
}

NodeAccount account_of(const std::vector<Series>& series, double end = 10) {
  return account(series, {Seconds(0), Seconds(end)});
}

double measured(const NodeAccount& node) { return node.totals.measured->energy().value; }

TEST(CrossCheck, ShowsCounterAndPowerWithTheirRatio) {
  const NodeAccount node = account_of(pair([](double t) { return 306 * t; }));
  EXPECT_NEAR(measured(node), 3060, 1e-6);
  EXPECT_NEAR(node.sources[1].energy->value, 3000, 1e-6);
  EXPECT_THAT(node.sources[1].remarks, Contains("energy counter / integrated power = 1.020"));
  EXPECT_THAT(node.sources[0].remarks, IsEmpty());
}

TEST(CrossCheck, SaysWhenTheTwoDifferByMoreThanTheirUncertainties) {
  const NodeAccount node = account_of(pair([](double t) { return 171 * t; }));
  EXPECT_NEAR(measured(node), 1710, 1e-6);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("0.570: they differ by more")));
}

TEST(CrossCheck, AFrozenCounterGivesWayToThePowerThatWasDrawn) {
  const NodeAccount node = account_of(pair([](double t) { return 300 * std::min(t, 4.0); }));
  EXPECT_NEAR(measured(node), 3000, 1e-6);
  EXPECT_FALSE(node.sources[0].counts);
  EXPECT_TRUE(node.sources[1].counts);
  EXPECT_EQ(node.sources[0].energy, std::nullopt);
  EXPECT_THAT(node.sources[0].remarks,
              Contains(HasSubstr("stood still for 6.0 s while 300.0 W were drawn")));
  EXPECT_THAT(node.sources[1].remarks, Contains(HasSubstr("integrated in its stead")));
}

TEST(CrossCheck, ACounterThatWasFrozenFromTheStartGivesWayToo) {
  const NodeAccount node = account_of(pair([](double) { return 42; }));
  EXPECT_NEAR(measured(node), 3000, 1e-6);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("stood still")));
}

TEST(CrossCheck, ACounterMayStandStillWhereNothingIsDrawn) {
  std::vector<Series> series = {
      follow(Quantity::energy, 10, [](double t) { return 300 * std::max(0.0, t - 5); }),
      follow(Quantity::power, 10, [](double t) { return t < 5 ? 0 : 300; })};
  const NodeAccount node = account_of(series);
  EXPECT_TRUE(node.sources[0].counts);
  EXPECT_NEAR(measured(node), 1500, 1e-6);
}

TEST(CrossCheck, ACounterThatBeganAnewOnceStillCounts) {
  std::vector<Series> series = pair([](double t) { return 300 * t; });
  series[0].rows[50].reading = Gap{Gap::Cause::implausible, "went from 1470 J to 0 J"};
  series[0].rows[51].reading = Gap{Gap::Cause::reset, "began anew"};
  const NodeAccount node = account_of(series);
  EXPECT_TRUE(node.sources[0].counts);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("reset: began anew")));
}

TEST(CrossCheck, ACounterThatKeepsSlippingGivesWayToPower) {
  std::vector<Series> series = pair([](double t) { return 300 * t; });
  for (int i : {20, 21, 50, 51}) series[0].rows[i].reading = Gap{Gap::Cause::reset, "began anew"};
  const NodeAccount node = account_of(series);
  EXPECT_TRUE(node.sources[1].counts);
  EXPECT_THAT(node.sources[0].remarks, Contains(HasSubstr("slipped in 4 readings")));
}

TEST(CrossCheck, WithoutPowerAFrozenCounterIsAllThereIs) {
  const std::vector<Series> series = {
      follow(Quantity::energy, 10, [](double t) { return 300 * std::min(t, 4.0); })};
  EXPECT_NEAR(measured(account_of(series)), 1200, 1e-6);
}

/// Bursts of any length; the counter is exact, and so is each region's share of it.
TEST(CrossCheck, OfBurstyPowerTheTotalIsTheCounterAndRegionsAddUpToIt) {
  base::Stream random{42};
  Series counter{gpu(Quantity::energy), {}}, power{gpu(Quantity::power), {}};
  double energy = 1000, now = 0, until = 0, watts = 0;
  for (int i = 0; i <= 3000; ++i) {
    counter.rows.push_back({0, Seconds(now), energy});
    power.rows.push_back({1, Seconds(now), watts});
    for (double end = now + 0.1; now < end;) {
      if (now >= until) {
        watts = random.uniform() < 0.5 ? 60 : random.uniform(200, 450);
        until = now + random.uniform(0.003, 0.4);
      }
      const double step = std::min(until, end) - now;
      energy += watts * step;
      now += step;
    }
  }
  const double end = counter.rows.back().at.count();
  const std::vector<Series> series = {counter, power};
  const NodeAccount whole = account(series, {Seconds(0), Seconds(end)});
  EXPECT_NEAR(measured(whole), std::get<double>(counter.rows.back().reading) - 1000, 1e-6);
  double sum = 0;
  for (double begin = 0; begin < end;) {
    const double stop = std::min(begin + random.uniform(0.5, 20), end);
    sum += measured(account(series, {Seconds(begin), Seconds(stop)}));
    begin = stop;
  }
  EXPECT_NEAR(sum, measured(whole), 1e-6);
}

/// Kernels of half a second on a sensor that shows, every 0.1 s, the mean of the last 25 ms.
TEST(CrossCheck, OfASensorThatSeesAQuarterOfTheTimeTheIntervalHoldsTheTruth) {
  constexpr int trials = 400;
  base::Stream random{7};
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const double phase = random.uniform(0, 0.1);
    std::vector<std::pair<double, double>> edges = {{-1, 60}};  // from then on so many watts
    for (double t = 0; t < 31; t += random.uniform(0.1, 0.6)) {
      edges.emplace_back(t, 400);
      edges.emplace_back(t += 0.5, 60);
    }
    const auto energy_until = [&](double t) {
      double sum = 0;
      for (std::size_t i = 0; i < edges.size() && edges[i].first < t; ++i) {
        const double next = i + 1 < edges.size() ? edges[i + 1].first : t;
        sum += edges[i].second * (std::min(next, t) - edges[i].first);
      }
      return sum;
    };
    Series sensor{gpu(Quantity::power), {}};
    sensor.description.window = Seconds(0.025);
    for (double t = phase; t < 31; t += 0.1)
      sensor.rows.push_back({0, Seconds(t), (energy_until(t) - energy_until(t - 0.025)) / 0.025});
    const SourceAccount got = account(sensor, {Seconds(0.5), Seconds(30)});
    const double error = got.energy->value - (energy_until(30) - energy_until(0.5));
    held += std::abs(error) <= got.uncertainty.resolution.value;
  }
  EXPECT_GE(held, 0.95 * trials);
}

/// A counter of 100 W that is read every 10 ms for 4 s and stands still from a moment on.
SourceAccount standing_still_from(double moment) {
  Series counter{gpu(Quantity::energy), {}};
  counter.description.update_period = Seconds(0.01);
  for (int i = 0; i <= 400; ++i)
    counter.rows.push_back({0, Seconds(0.01 * i), 100 * std::min(0.01 * i, moment)});
  return account(counter, {Seconds(0), Seconds(4)});
}

TEST(ACounterAlone, ThatStandsStillUpToTheEndIsToldAndLessSure) {
  const SourceAccount sound = standing_still_from(4);
  EXPECT_THAT(sound.remarks, IsEmpty());
  EXPECT_THAT(standing_still_from(3.97).remarks, IsEmpty()) << "it may be about to move";
  const SourceAccount frozen = standing_still_from(3.5);
  EXPECT_THAT(frozen.remarks, Contains(HasSubstr("stood still for the last 0.50 s")));
  EXPECT_NEAR(frozen.energy->value, 350, 1e-6);
  EXPECT_LE(400 - frozen.energy->value, frozen.uncertainty.resolution.value);
}

// Through a library and a sweep -----------------------------------------------------------------

class NvmlRun : public Nvml {
 protected:
  /// Ten seconds at ten readings a second; `at` is called before each with its number.
  NodeAccount run(const std::function<void(int)>& at) {
    Opened opened = open_nvml(options({}));
    Seconds now{0};
    Sweep sweep(std::move(opened.sources),
                {.now = [&] { return now; }, .asleep = [] { return Seconds(0); }}, Seconds(0.1));
    std::vector<Row> rows;
    for (int i = 0; i <= 100; ++i, now += Seconds(0.1)) {
      for (unsigned g = 0; g < stub->count; ++g) stub->gpus[g].millijoules += 26'000;
      at(i);
      for (Row& row : sweep.round()) rows.push_back(std::move(row));
    }
    return account(by_source(sweep.descriptions(), rows), {Seconds(0), Seconds(10)});
  }
  static const SourceAccount& source(const NodeAccount& node, std::string_view device,
                                     Quantity quantity) {
    for (const SourceAccount& source : node.sources)
      if (source.description.device == device && source.description.quantity == quantity)
        return source;
    throw std::runtime_error("no such source");
  }
};

TEST_F(NvmlRun, AGpuThatFallsOffTheBusIsToldAndTheOthersGoOn) {
  stub->count = 2;
  const NodeAccount node = run([&](int i) {
    if (i == 40) stub->gpus[1].energy_result = stub->gpus[1].instant_result = NvmlStub::gpu_is_lost;
  });
  const SourceAccount& lost = source(node, "GPU 1", Quantity::energy);
  EXPECT_NEAR(lost.energy->value, 39 * 26, 1e-6);
  EXPECT_THAT(lost.remarks, Contains(HasSubstr("failed: GPU is lost")));
  EXPECT_THAT(lost.remarks, Contains(HasSubstr("speaks for 3.90 s of 10.00 s")));
  EXPECT_NEAR(source(node, "GPU 0", Quantity::energy).energy->value, 2600, 1e-6);
  EXPECT_THAT(source(node, "GPU 0", Quantity::energy).remarks, IsEmpty());
}

TEST_F(NvmlRun, ADriverThatIsLoadedAnewIsAResetInTheRemarks) {
  const NodeAccount node = run([&](int i) {
    if (i == 50) gpu().millijoules = 26'000;
  });
  const SourceAccount& counter = source(node, "GPU 0", Quantity::energy);
  EXPECT_THAT(counter.remarks, Contains(HasSubstr("reset: began anew")));
  EXPECT_TRUE(counter.counts);
  EXPECT_LE(std::abs(counter.energy->value - 2600), counter.uncertainty.resolution.value);
}

TEST_F(NvmlRun, APowerThreeTimesOverTheLimitIsToldAndDropped) {
  const NodeAccount node =
      run([&](int i) { gpu().instant_milliwatts = i == 30 ? 1'250'000 : 260'000; });
  const SourceAccount& power = source(node, "GPU 0", Quantity::power);
  EXPECT_THAT(power.remarks, Contains("implausible: 1250 W, more than 1200 W"));
  EXPECT_NEAR(power.energy->value, 2600, 1e-6);
  EXPECT_EQ(power.peak_power->value, 260);
}

TEST_F(NvmlRun, ACounterThatFreezesUnderLoadIsIntegratedInstead) {
  unsigned long long frozen = 0;
  const NodeAccount node = run([&](int i) {
    if (i == 30) frozen = gpu().millijoules;
    if (i >= 30) gpu().millijoules = frozen;
  });
  EXPECT_NEAR(measured(node), 2600, 1e-6);
  EXPECT_TRUE(source(node, "GPU 0", Quantity::power).counts);
}

}  // namespace
}  // namespace parajoule::meter
