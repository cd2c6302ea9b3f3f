// The wall clock is set while a run is metered, by hand or by NTP: nothing of a run may follow it.

#include <atomic>

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "meter/made_up_source.h"
#include "meter/sampler.h"
#include "meter/sweep.h"

namespace {
std::atomic<long> wall_clock_is_ahead{0};  // seconds
}

// Stands before the C library's for everything in this program.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int result = int(::syscall(SYS_clock_gettime, clock, time));
  if (clock == CLOCK_REALTIME) time->tv_sec += wall_clock_is_ahead;
  return result;
}

namespace parajoule::meter {
namespace {

using base::Seconds;

std::vector<std::unique_ptr<Source>> one_source() {
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(made_up(described("x", Quantity::power), [](Seconds) { return 100.0; }));
  return sources;
}

class ClockStep : public testing::Test {
 protected:
  ~ClockStep() override { wall_clock_is_ahead = 0; }
  static constexpr long year = 365 * 86'400;
};

TEST_F(ClockStep, IsSeenByWhoReadsTheWallClock) {
  const auto before = std::chrono::system_clock::now();
  wall_clock_is_ahead = year;
  EXPECT_GT(std::chrono::system_clock::now() - before, std::chrono::hours(8000));
}

TEST_F(ClockStep, LeavesTheMomentsOfRowsAlone) {
  const auto start = std::chrono::steady_clock::now();
  Sweep sweep(one_source(), node_clock(start), Seconds(1e-6));
  std::vector<Row> rows;
  for (long ahead : {0L, year, -year, 0L}) {
    wall_clock_is_ahead = ahead;
    for (const Row& row : sweep.whole_round()) rows.push_back(row);
  }
  ASSERT_EQ(rows.size(), 4u);  // none of them tells of sleep or lateness
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_GE(rows[i].at, rows[i - 1].at);
    EXPECT_LT(rows[i].at - rows[i - 1].at, Seconds(0.5 * year));
  }
}

TEST_F(ClockStep, NeitherStopsNorHurriesTheSampler) {
  std::vector<Row> rows;
  Sampler sampler(one_source(), {.hertz = 1000, .sink = [&](std::span<const Row> more) {
                                   rows.insert(rows.end(), more.begin(), more.end());
                                 }});
  for (long ahead : {year, -year, 0L}) {
    const std::uint64_t before = sampler.cost().rounds;
    wall_clock_is_ahead = ahead;
    while (sampler.cost().rounds < before + 5) std::this_thread::yield();
  }
  sampler.stop();
  EXPECT_LT(rows.back().at, Seconds(0.5 * year));
  EXPECT_GE(rows.size(), 15u);
}

}  // namespace
}  // namespace parajoule::meter
