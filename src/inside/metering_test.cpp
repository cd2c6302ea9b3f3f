#include "inside/metering.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "meter/made_up_source.h"

namespace parajoule::inside {
namespace {

using base::Seconds;
using meter::Label;
using meter::Quantity;
using Sources = Metering::Sources;

constexpr double watts = 100;

/// Counts the reads of a source, and lets others wait for them.
struct Reads {
  std::atomic<int> count = 0;
  void add() {
    ++count;
    count.notify_all();
  }
  void wait_for(int more) {
    const int wanted = count + more;
    for (int seen = count; seen < wanted; seen = count) count.wait(seen);
  }
};

/// A device that has drawn `watts` since the machine was started.
std::unique_ptr<meter::Source> counter(Reads& reads, Label label = Label::measured,
                                       std::string device = "GPU 0") {
  return meter::made_up(meter::described(std::move(device), Quantity::energy, label),
                        [&reads](Seconds) -> meter::Reading {
                          reads.add();
                          return watts * now().count();
                        });
}

Sources one(std::unique_ptr<meter::Source> source) {
  Sources sources;
  sources.push_back(std::move(source));
  return sources;
}

double joules_of(Metering& metering, std::uint64_t id) {
  const auto found = metering.energy_of(id);
  EXPECT_TRUE(found);
  if (!found || !found->account.totals.measured) return -1;
  return found->account.totals.measured->energy().value;
}

TEST(Metering, RegionsThatTileASpanAddUpToItsEnergy) {
  Reads reads;
  Metering metering(one(counter(reads)), {}, {.hertz = 200});
  const Seconds begin = now();
  metering.begin(1, begin, false);
  metering.begin(2, begin, false);
  reads.wait_for(20);
  const Seconds middle = now();
  metering.end(2, middle);
  metering.begin(3, middle, false);
  reads.wait_for(30);
  const Seconds end = now();
  metering.end(1, end);
  metering.end(3, end);
  const double whole = joules_of(metering, 1);
  EXPECT_NEAR(joules_of(metering, 2) + joules_of(metering, 3), whole, 1e-6);
  // Far less exact than it is, for a machine on which a thread may stand still at any time.
  EXPECT_NEAR(whole, watts * (end - begin).count(), 0.2 * watts);
  EXPECT_GT(whole, 0);
}

TEST(Metering, ARegionIsToldWithItsUncertaintyAndLabelsStayApart) {
  Reads reads;
  Sources sources = one(counter(reads));
  sources.push_back(counter(reads, Label::modelled, "memory"));
  Metering metering(std::move(sources), {}, {.hertz = 200});
  metering.begin(1, now(), false);
  reads.wait_for(20);
  metering.end(1, now());
  const RegionEnergy found = metering.energy_of(1).value();
  ASSERT_TRUE(found.account.totals.measured && found.account.totals.modelled);
  EXPECT_GT(found.account.totals.measured->uncertainty().whole().value, 0);
  EXPECT_EQ(found.account.sources.size(), 2u);
  EXPECT_EQ(found.exact_cost.count(), 0);
}

TEST(Metering, AnExactRegionReadsCountersAtBothEndsAndSaysWhatItCost) {
  Reads sampled;
  Reads exactly;
  // So slow that the sampler reads nothing within the region.
  Metering metering(one(counter(sampled)), [&] { return one(counter(exactly)); }, {.hertz = 1e-4});
  metering.begin(1, now(), true);
  EXPECT_EQ(exactly.count, 1);
  EXPECT_TRUE(metering.end(1, now()));
  EXPECT_EQ(exactly.count, 2);
  metering.stop();
  const RegionEnergy found = metering.energy_of(1).value();
  EXPECT_GT(found.exact_cost.count(), 0);
  EXPECT_EQ(exactly.count, 2);
}

TEST(Metering, NothingIsReadAfterStop) {
  Reads sampled;
  Reads exactly;
  Metering metering(one(counter(sampled)), [&] { return one(counter(exactly)); }, {.hertz = 1000});
  metering.begin(1, now(), true);
  metering.begin(2, now(), false);
  sampled.wait_for(5);
  metering.end(2, now());
  metering.stop();
  const int before = sampled.count + exactly.count;
  metering.begin(3, now(), true);
  EXPECT_TRUE(metering.end(3, now()));
  EXPECT_TRUE(metering.end(1, now()));
  EXPECT_GT(joules_of(metering, 2), 0);
  EXPECT_TRUE(metering.energy_of(1));
  metering.stop();
  EXPECT_EQ(sampled.count + exactly.count, before);
}

TEST(Metering, WhatIsNoEndedRegionHasNoEnergy) {
  Reads reads;
  Metering metering(one(counter(reads)), {}, {.hertz = 100});
  EXPECT_EQ(metering.energy_of(7), std::nullopt);
  EXPECT_FALSE(metering.end(7, now()));
  metering.begin(1, now(), false);
  EXPECT_EQ(metering.energy_of(1), std::nullopt);
  EXPECT_TRUE(metering.end(1, now()));
  EXPECT_FALSE(metering.end(1, now()));
  EXPECT_TRUE(metering.energy_of(1));
  metering.forget(1);
  EXPECT_EQ(metering.energy_of(1), std::nullopt);
}

TEST(Metering, WithoutAnySourceARegionHasNoNumberRatherThanZero) {
  Metering metering({}, {}, {.hertz = 100});
  metering.begin(1, now(), false);
  metering.end(1, now());
  const RegionEnergy found = metering.energy_of(1).value();
  EXPECT_FALSE(found.account.totals.measured);
  EXPECT_FALSE(found.account.totals.modelled);
}

TEST(Metering, ReadingsThatNoRegionNeedsAreLetGo) {
  Reads reads;
  Metering metering(one(counter(reads)), {}, {.hertz = 1000, .before_a_region = Seconds(0)});
  metering.begin(1, now(), false);
  reads.wait_for(600);
  metering.end(1, now());
  EXPECT_TRUE(metering.energy_of(1));
  reads.wait_for(600);
  metering.stop();
  EXPECT_LE(metering.kept_rows(), 4u);
}

TEST(Metering, RegionsOfManyThreadsNestAndOverlap) {
  Reads reads;
  Metering metering(one(counter(reads)), [&] { return one(counter(reads)); }, {.hertz = 1000});
  constexpr std::uint64_t each = 100;
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (std::uint64_t i = 1; i <= each; ++i) {
        const std::uint64_t outer = 2 * (thread * each + i);
        metering.begin(outer, now(), i % 10 == 0);
        metering.begin(outer + 1, now(), false);
        metering.end(outer, now());
        if (i % 25 == 0) metering.energy_of(outer);
        metering.end(outer + 1, now());
      }
    });
  for (std::thread& thread : threads) thread.join();
  metering.stop();
  for (std::uint64_t id = 2; id <= 2 * 4 * each + 1; ++id) EXPECT_TRUE(metering.energy_of(id));
}

TEST(Metering, APaceThatIsNoneIsRefused) {
  EXPECT_THROW(Metering({}, {}, {.hertz = 0}), base::Error);
  EXPECT_THROW(Metering({}, {}, {.hertz = 1001}), base::Error);
}

}  // namespace
}  // namespace parajoule::inside
