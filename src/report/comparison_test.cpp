#include "report/comparison.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::report {
namespace {

/// Repeats of a run of one kilowatt-hour, times `factor`, with a scatter of half a per cent.
std::vector<Point> runs(base::Stream& chance, double factor, int repeats, double batch = 256) {
  std::vector<Point> rows;
  for (int i = 0; i < repeats; ++i) {
    Point row{.series = "a", .devices = 4, .local_batch = batch};
    row.energy_kwh = Measured{.mean = factor * (1 + 0.005 * chance.normal())};
    row.device_hours = Measured{.mean = 2};
    rows.push_back(row);
  }
  return grouped(rows);
}

const Limit three_percent = {"energy_joules", true, 3};

TEST(Comparison, ReadsLimits) {
  EXPECT_EQ(limit_of("energy_joules>+3%").percent, 3);
  EXPECT_EQ(limit_of("wall_seconds>0.5%").percent, 0.5);
  EXPECT_FALSE(limit_of("error<-2%").above);
  for (const char* text : {"", "energy_joules", "energy>3%", "energy_joules>3", "energy_joules>x%",
                           "energy_joules>-200%", "energy_joules>3%%"})
    EXPECT_THROW(limit_of(text), base::Error) << text;
}

TEST(Comparison, JudgesByTheWholeInterval) {
  base::Stream chance{1};
  const auto a = runs(chance, 1, 5);
  const auto judge = [&](double factor, int repeats) {
    return judged(compared(a, runs(chance, factor, repeats), "energy_joules"), three_percent);
  };
  EXPECT_EQ(judge(1.10, 5), Judgement::worse);
  EXPECT_EQ(judge(1.00, 5), Judgement::within);
  EXPECT_EQ(judge(0.50, 5), Judgement::within);
  EXPECT_EQ(judge(1.03, 5), Judgement::unknown);
  EXPECT_EQ(judge(1.50, 1), Judgement::unknown);  // no repeats
}

TEST(Comparison, CallsEqualRunsWorseAtMostOnceInTwenty) {
  int worse = 0;
  for (std::uint64_t pair = 0; pair < 200; ++pair) {
    base::Stream chance{2, pair};
    const auto a = runs(chance, 1, 5), b = runs(chance, 1, 5);
    worse +=
        judged(compared(a, b, "energy_joules"), {"energy_joules", true, 0}) == Judgement::worse;
  }
  EXPECT_LE(worse, 10);
}

TEST(Comparison, PairsConfigurationsThatDiffer) {
  base::Stream chance{3};
  std::vector<Point> a, b;
  for (const double batch : {32, 64, 128, 256}) {
    a.push_back(runs(chance, batch, 1, batch).front());  // energies a factor of eight apart
    b.push_back(runs(chance, 1.1 * batch, 1, batch).front());
  }
  const Comparison found = compared(a, b, "energy_joules");
  EXPECT_EQ(found.configurations, 4);
  EXPECT_NEAR(*found.change_percent, 10, 1.5);
  EXPECT_LT(*found.half_width, 3);
  EXPECT_EQ(judged(found, three_percent), Judgement::worse);
}

TEST(Comparison, OfOtherConfigurationsOrOfWhatIsNotThereIsUnknown) {
  base::Stream chance{4};
  const auto a = runs(chance, 1, 5), b = runs(chance, 1, 5, 128);
  EXPECT_EQ(compared(a, b, "energy_joules").configurations, 0);
  EXPECT_EQ(judged(compared(a, b, "energy_joules"), three_percent), Judgement::unknown);
  EXPECT_EQ(judged(compared(a, a, "error"), three_percent), Judgement::unknown);
}

}  // namespace
}  // namespace parajoule::report
