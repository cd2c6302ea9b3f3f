// What must hold of any stream of readings, through counter and account together.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"
#include "meter/account.h"
#include "meter/counter.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Joules;
using base::Seconds;
using base::Watts;
using testing::Contains;
using testing::HasSubstr;

constexpr double step = 0x1p-14;
constexpr double range = 4000;  // small, so that it is passed every ten seconds or so

/// A device of random power, read at random moments, now and then in vain; what it has drawn stands
/// beside each row.
struct Stream {
  Series series{described("package-0", Quantity::energy), {}};
  std::vector<double> truth = {};
  int passes = 0;

  explicit Stream(base::Stream& random, double in_vain = 0.1) {
    series.description.resolution = step;
    series.description.update_period = Seconds(0.001);
    Counter counter({.range = Joules{range}, .most = Watts{1500}, .slack = Seconds(0.1)});
    double drawn = 0, now = 0, shown = random.uniform(0, range);
    for (int i = 0; i < 400; ++i) {
      const double wait = random.uniform(0.001, 0.3);
      const double energy = wait * random.uniform(0, 900);
      now += wait;
      drawn += energy;
      passes += shown + energy >= range;
      shown = std::fmod(shown + energy, range);
      Reading reading = Gap{Gap::Cause::failed, "busy"};
      if (random.uniform(0, 1) >= in_vain)
        reading = counter.update(Joules{std::floor(shown / step) * step}, Seconds(now));
      series.rows.push_back({0, Seconds(now), reading});
      truth.push_back(drawn);
    }
  }

  std::vector<std::size_t> read() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < series.rows.size(); ++i)
      if (std::holds_alternative<double>(series.rows[i].reading)) places.push_back(i);
    return places;
  }
};

TEST(AnyStream, HasAnEnergyWithinOneStepOfTheTruth) {
  base::Stream random{21};
  int passes = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Stream stream(random);
    passes += stream.passes;
    const auto places = stream.read();
    for (int look = 0; look < 20; ++look) {
      const auto first = places[std::size_t(random.uniform(0, double(places.size() - 1)))];
      const auto last = places[std::size_t(random.uniform(0, double(places.size() - 1)))];
      if (first >= last) continue;
      const auto account = meter::account(
          stream.series, {stream.series.rows[first].at, stream.series.rows[last].at});
      const double truth = stream.truth[last] - stream.truth[first];
      ASSERT_NEAR(account.energy.value_or(Joules{0}).value, truth, step + 1e-6);
      ASSERT_GE(account.energy.value_or(Joules{0}), Joules{0});
    }
  }
  EXPECT_GT(passes, 500);  // or nothing was tried
}

TEST(AnyStream, GivesTheRegionsThatTileASpanTheEnergyOfTheSpan) {
  base::Stream random{22};
  for (int trial = 0; trial < 100; ++trial) {
    const Stream stream(random);
    const Span whole{stream.series.rows[10].at, stream.series.rows[390].at};
    std::vector<Seconds> ends = {whole.begin, whole.end};
    for (int i = 0; i < 30; ++i)
      ends.push_back(Seconds(random.uniform(whole.begin.count(), whole.end.count())));
    std::ranges::sort(ends);
    double sum = 0;
    for (std::size_t i = 1; i < ends.size(); ++i)
      if (ends[i] > ends[i - 1])
        sum +=
            meter::account(stream.series, {ends[i - 1], ends[i]}).energy.value_or(Joules{0}).value;
    ASSERT_NEAR(sum, meter::account(stream.series, whole).energy->value, 1e-6);
  }
}

TEST(AnyStream, HasTheTruthBetweenItsBoundsWhereverARegionEnds) {
  base::Stream random{23};
  int held = 0, tried = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const Stream stream(random);
    const auto& rows = stream.series.rows;
    const std::size_t first = 20 + trial % 50, last = first + 200;
    // Both ends inside a stretch of constant power, so the truth there is known.
    const double f = random.uniform(0, 1), g = random.uniform(0, 1);
    const auto between = [&](std::size_t i, double part, auto value) {
      return value(i - 1) + part * (value(i) - value(i - 1));
    };
    const auto at = [&](std::size_t i) { return rows[i].at.count(); };
    const auto drawn = [&](std::size_t i) { return stream.truth[i]; };
    const Span span{Seconds(between(first, f, at)), Seconds(between(last, g, at))};
    const auto account = meter::account(stream.series, span);
    const double truth = between(last, g, drawn) - between(first, f, drawn);
    held += std::abs(account.energy->value - truth) <= account.uncertainty.resolution.value;
    ++tried;
  }
  EXPECT_GE(held, 0.93 * tried);
}

TEST(AnyStream, OfAMachineThatResetsItsCounterIsNeverAboveTheTruth) {
  base::Stream random{24};
  for (int trial = 0; trial < 100; ++trial) {
    Series series{described("node", Quantity::energy), {}};
    Counter counter({.range = {}, .most = Watts{1500}, .slack = Seconds(0.1)});
    double drawn = 0, now = 0, shown = 1e6;
    for (int i = 0; i < 300; ++i) {
      const double wait = random.uniform(0.01, 0.2);
      const double energy = wait * random.uniform(0, 900);
      now += wait;
      drawn += energy;
      shown = i % 70 == 69 ? 0 : shown + energy;
      series.rows.push_back({0, Seconds(now), counter.update(Joules{shown}, Seconds(now))});
      if (i == 0) drawn = 0;
    }
    const auto account = meter::account(series, {series.rows.front().at, series.rows.back().at});
    ASSERT_LE(account.energy->value, drawn + 1e-6);
    ASSERT_GT(account.energy->value, 0.9 * drawn);
    ASSERT_THAT(account.remarks, Contains(HasSubstr("4 times reset")));
  }
}

TEST(AnyParts, ThatExceedTheirWholeAreFlaggedAndNoOthers) {
  base::Stream random{25};
  int flagged = 0;
  for (int trial = 0; trial < 500; ++trial) {
    const auto steady = [](Description description, double watts) {
      Series series{std::move(description), {}};
      for (int i = 0; i <= 100; ++i) series.rows.push_back({0, Seconds(0.1 * i), watts * 0.1 * i});
      return series;
    };
    std::vector<Series> node;
    double sum = 0, squares = 0;
    const int parts = 1 + int(random.uniform(0, 4));
    for (int i = 0; i < parts; ++i) {
      Description part = described("part " + std::to_string(i), Quantity::energy);
      part.part_of = "whole";
      part.bias_relative = 0.01 * (i + 1);  // of different types: their biases add as squares
      const double watts = random.uniform(10, 200);
      sum += watts;
      squares += std::pow(watts * *part.bias_relative, 2);
      node.push_back(steady(part, watts));
    }
    Description whole = described("whole", Quantity::energy);
    whole.bias_relative = 0.07;
    const double watts = sum * random.uniform(0.7, 1.2);
    node.push_back(steady(whole, watts));
    const bool exceeds = sum > watts + std::sqrt(squares + std::pow(0.07 * watts, 2));
    const auto remarks = account(node, {Seconds(0), Seconds(10)}).sources.back().remarks;
    const bool told = std::ranges::any_of(
        remarks, [](const std::string& line) { return line.find("parts draw more") != line.npos; });
    ASSERT_EQ(told, exceeds) << sum << " W in " << watts << " W";
    flagged += told;
  }
  EXPECT_GT(flagged, 50);
}

}  // namespace
}  // namespace parajoule::meter
