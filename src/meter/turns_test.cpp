#include "meter/turns.h"

#include <atomic>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_nvml.h"
#include "meter/made_up_source.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::SizeIs;

std::unique_ptr<Source> counter(const std::string& device, MadeUpSource::Answer answer) {
  return made_up(described(device, Quantity::energy), std::move(answer));
}

TEST(Turns, NoRoundWaitsForCountersAndAllAreReadAtTheEnds) {
  std::atomic<int> reads = 0;
  std::promise<void> let;
  const auto allowed = let.get_future().share();
  std::vector<std::unique_ptr<Source>> sources;
  for (int gpu = 0; gpu < 64; ++gpu)
    sources.push_back(counter("GPU " + std::to_string(gpu), [&, gpu](Seconds) -> Reading {
      if (++reads > 64) allowed.wait();  // slow, once the first round is over
      return 1000.0 * gpu + reads;
    }));
  sources.push_back(made_up(described("fast", Quantity::power), [](Seconds) { return 1.0; }));
  read_counters_apart(sources, Seconds(1e-6));
  ASSERT_THAT(sources, SizeIs(65));
  EXPECT_EQ(sources[63]->description().device, "GPU 63");
  Sweep sweep(std::move(sources), node_clock(std::chrono::steady_clock::now()), Seconds(0.1));
  EXPECT_THAT(sweep.whole_round(), SizeIs(65));  // the beginning of a run
  EXPECT_GE(reads, 64);
  for (int i = 0; i < 3; ++i) sweep.round();  // would never come back if it waited
  let.set_value();
  const auto last = sweep.whole_round();  // the end
  ASSERT_THAT(last, SizeIs(65));
  EXPECT_GE(reads, 128);
}

TEST(Turns, EachReadingStandsWhereItWasTaken) {
  std::vector<std::unique_ptr<Source>> sources;
  for (const char* device : {"first", "second"})
    sources.push_back(counter(device, [](Seconds) {
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
      while (std::chrono::steady_clock::now() < until) {
      }
      return 1.0;
    }));
  read_counters_apart(sources, Seconds(1000));
  Sweep sweep(std::move(sources), node_clock(std::chrono::steady_clock::now()), Seconds(0.1));
  const auto rows = sweep.whole_round();
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_GE(rows[1].at - rows[0].at, Seconds(0.0019));
}

using NvmlTurns = Nvml;

TEST_F(NvmlTurns, SlowCountersGetAThreadOfTheirOwnAndQuickOnesNone) {
  Options slow = options({"0"});
  slow.slow_counters = Seconds(0);
  const Opened apart = open_nvml(slow);
  ASSERT_THAT(apart.sources, SizeIs(2));
  apart.sources[0]->refresh(std::chrono::steady_clock::now());
  EXPECT_EQ(value(apart.sources[0]->read(Seconds(0))), 5000);
  EXPECT_EQ(apart.sources[0]->description().quantity, Quantity::energy);
  slow.slow_counters = Seconds(1000);
  const Opened within = open_nvml(slow);
  EXPECT_EQ(value(within.sources.at(0)->read(Seconds(0))), 5000);  // at once
}

}  // namespace
}  // namespace parajoule::meter
