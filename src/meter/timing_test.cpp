#include "meter/timing.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::Contains;
using testing::HasSubstr;

/// A board that draws 80 W and 330 W in turns of irregular length, and what sensors show of it.
class Board {
 public:
  explicit Board(std::uint64_t seed) {
    base::Stream random{seed};
    for (double t = -10; t < 200; t += random.uniform(0.2, 3)) edges_.push_back(t);
  }

  double energy(double t) const {
    double sum = 0;
    for (std::size_t i = 0; i < edges_.size() && edges_[i] < t; ++i) {
      const double next = i + 1 < edges_.size() ? edges_[i + 1] : t;
      sum += (i % 2 == 0 ? 80 : 330) * (std::min(next, t) - edges_[i]);
    }
    return sum;
  }

  /// Renewed every `period`, a mean over `window`, read every `read`.
  Series power(double period, double window, double read, base::Stream& random) const {
    Series series{described("x", Quantity::power), {}};
    double shown_at = -1, shown = 0;
    for (double t = 0; t < 60; t += read * random.uniform(0.9, 1.1)) {
      const double renewed = std::floor(t / period) * period;
      if (renewed != shown_at) {
        shown_at = renewed;
        shown = (energy(renewed) - energy(renewed - window)) / window + random.normal();
      }
      series.rows.push_back({0, Seconds(t), shown});
    }
    return series;
  }

  Series counter(double read) const {
    Series series{described("x", Quantity::energy), {}};
    for (double t = 0; t < 60; t += read) series.rows.push_back({0, Seconds(t), energy(t)});
    return series;
  }

 private:
  std::vector<double> edges_;
};

TEST(Timing, FindsThePeriodOfASensorThatIsReadMoreOftenThanItIsRenewed) {
  base::Stream random{1};
  for (double period : {0.02, 0.1, 1.0}) {
    const Series series = Board(3).power(period, 0.025, period / 5, random);
    EXPECT_NEAR(found_update_period(series).value().count(), period, 0.05 * period);
  }
}

TEST(Timing, OfASensorThatIsReadTooSeldomNoPeriodIsFound) {
  base::Stream random{2};
  EXPECT_EQ(found_update_period(Board(3).power(0.02, 0.025, 0.1, random)), std::nullopt);
  EXPECT_EQ(found_update_period(Board(3).power(0.1, 0.025, 0.1, random)), std::nullopt);
}

TEST(Timing, ANumberThatNeverChangesHasNoPeriod) {
  Series constant{described("x", Quantity::power), {}};
  EXPECT_EQ(found_update_period(constant), std::nullopt);
  for (int i = 0; i < 100; ++i) constant.rows.push_back({0, Seconds(i), 5.0});
  EXPECT_EQ(found_update_period(constant), std::nullopt);
}

TEST(Timing, ACoarseNumberThatChangesNowAndThenHasNoPeriod) {
  base::Stream random{3};
  Series coarse{described("x", Quantity::power), {}};
  for (int i = 0; i < 1000; ++i)
    coarse.rows.push_back({0, Seconds(i / 10.0), random.uniform() < 0.2 ? 41.0 : 40.0});
  EXPECT_EQ(found_update_period(coarse), std::nullopt);
}

TEST(Timing, FindsTheWindowFromTheCounter) {
  base::Stream random{4};
  for (double window : {0.3, 1.0, 2.0}) {
    const Board board(std::uint64_t(window * 10));
    const auto found = found_window(board.power(0.1, window, 0.1, random), board.counter(0.1));
    // A number is shown for a period of 0.1 s, which sets it back as twice as much window does.
    EXPECT_NEAR(found.value().count(), window + 0.05, 0.1 * window + 0.06);
  }
}

TEST(Timing, AWindowFinerThanTheCounterIsNotTold) {
  base::Stream random{5};
  const Board board(9);
  EXPECT_EQ(found_window(board.power(0.1, 0.025, 0.1, random), board.counter(0.1)), std::nullopt);
}

TEST(Timing, OfASteadyPowerNoWindowIsTold) {
  Series power{described("x", Quantity::power), {}}, counter{described("x", Quantity::energy), {}};
  base::Stream random{6};
  for (int i = 0; i < 600; ++i) {
    power.rows.push_back({0, Seconds(i / 10.0), 250 + random.normal()});
    counter.rows.push_back({0, Seconds(i / 10.0), 25.0 * i});
  }
  EXPECT_EQ(found_window(power, counter), std::nullopt);
}

TEST(Timing, ASensorSlowerThanItIsSaidToBeIsToldAndLessSure) {
  base::Stream random{8};
  const Board board(5);
  Series slow = board.power(1, 1, 0.1, random);
  slow.description.window = Seconds(1);
  slow.description.update_period = Seconds(0.1);
  const auto account = meter::account(slow, {Seconds(2), Seconds(58)});
  EXPECT_THAT(account.remarks, Contains(HasSubstr("renewed every 1.0")));
  const double error = account.energy->value - (board.energy(58) - board.energy(2));
  EXPECT_LE(std::abs(error), account.uncertainty.resolution.value);
}

TEST(Timing, PowerIsSetBackByTheWindowThatIsFound) {
  base::Stream random{10};
  const Board board(20);
  const std::vector<Series> series = {board.counter(0.1), board.power(0.1, 2, 0.1, random)};
  const NodeAccount node = account(series, {Seconds(5), Seconds(50)});
  EXPECT_THAT(node.sources[1].remarks, Contains(HasSubstr("as a comparison with the energy")));
}

}  // namespace
}  // namespace parajoule::meter
