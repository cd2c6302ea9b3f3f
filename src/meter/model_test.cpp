#include "meter/model.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "base/error.h"
#include "meter/made_up_tree.h"
#include "meter/processor_time.h"

namespace parajoule::meter {
namespace {

namespace fs = std::filesystem;
using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Processors 0 and 1 are the run's, 2 is not. Ticks of user and idle; the rest stays.
std::string stat(int user0, int idle0, int user1, int idle1) {
  return fmt::format(
      "cpu  99999 0 0 99999 0 0 0 0 0 0\n"
      "cpu0 {} 1 2 {} 5 3 4 7 50 0\n"
      "cpu1 {} 0 0 {} 0 0 0 0 0 0\n"
      "cpu2 777 0 0 1 0 0 0 0 0 0\n"
      "intr 5 1 2 3\nctxt 12\n",
      user0, idle0, user1, idle1);
}

void make_machine(const MadeUpTree& tree) {
  tree.write("proc/stat", stat(0, 0, 0, 0));
  tree.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:        1 kB\n");
  tree.write("proc/cpuinfo", "processor : 0\nmodel name\t: Abacus 9000\nmodel name : other\n");
}

Options two_processors(const MadeUpTree& tree) {
  Options options = tree.options();
  options.cores = std::vector{1, 0};
  return options;
}

double value(Source& source, double now) {
  const Reading reading = source.read(Seconds(now));
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

TEST(Ticks, AreThoseOfTheProcessorsAskedFor) {
  const auto ticks = std::get<Ticks>(ticks_in(stat(100, 200, 1000, 2000), {0, 1}));
  EXPECT_EQ(ticks.busy, 100 + 1 + 2 + 3 + 4 + 1000);
  EXPECT_EQ(ticks.all, ticks.busy + 200 + 5 + 7 + 2000);
  EXPECT_EQ(std::get<Ticks>(ticks_in(stat(1, 1, 30, 12), {1})).all, 42);
}

TEST(Ticks, OfProcessorsThatAreNotThereAreAFailure) {
  EXPECT_TRUE(std::holds_alternative<Failure>(ticks_in(stat(1, 1, 1, 1), {8, 9})));
  EXPECT_TRUE(std::holds_alternative<Failure>(ticks_in("", {0})));
  EXPECT_TRUE(std::holds_alternative<Failure>(ticks_in("cpu\ncpux 1 2\ncpu", {0})));
  EXPECT_EQ(std::get<Ticks>(ticks_in(stat(1, 0, 4, 0), {1, 9})).busy, 4);
}

TEST(Ticks, OfOldKernelsHaveFewerFields) {
  EXPECT_EQ(std::get<Ticks>(ticks_in("cpu0 10 0 5 85", {0})).all, 100);
}

TEST(PowerModel, FollowsItsFormula) {
  const PowerModel model{.idle_per_core = base::Watts{2}, .peak_per_core = base::Watts{10}};
  EXPECT_EQ(model.power(0, 4).value, 8);
  EXPECT_EQ(model.power(1, 4).value, 40);
  EXPECT_NEAR(model.power(0.5, 1).value, 2 + 8 * 0.6155722066724582, 1e-12);  // 0.5^0.7
}

TEST(PowerModel, IsNearTheCurveItIsTakenFrom) {
  const PowerModel model{.idle_per_core = base::Watts{0}, .peak_per_core = base::Watts{1}};
  for (double u = 0; u <= 1; u += 0.01)
    EXPECT_NEAR(model.power(u, 1).value, 2 * u - std::pow(u, 1.4), 0.04) << u;
}

TEST(Model, EnergyFollowsTheUtilisationOfTheCores) {
  MadeUpTree tree;
  make_machine(tree);
  const Options options = two_processors(tree);
  const auto sources = model_cores(options, machine(options));
  Source& energy = *sources.at(0);
  EXPECT_EQ(value(energy, 100), 0);
  tree.write("proc/stat", stat(0, 1000, 0, 1000));  // ten idle seconds
  EXPECT_NEAR(value(energy, 110), 10 * 2 * 1.5, 1e-9);
  tree.write("proc/stat", stat(1000, 1000, 1000, 1000));  // ten busy ones
  EXPECT_NEAR(value(energy, 120), 30 + 10 * 2 * 6, 1e-9);
  tree.write("proc/stat", stat(2000, 1000, 1000, 2000));  // one busy, one idle
  EXPECT_NEAR(value(energy, 130), 150 + 10 * 2 * (1.5 + 4.5 * 0.6155722066724582), 1e-9);
}

TEST(Model, KeepsItsInputBesideTheEnergy) {
  MadeUpTree tree;
  make_machine(tree);
  const Options options = two_processors(tree);
  const auto sources = model_cores(options, machine(options));
  Source& utilisation = *sources.at(1);
  EXPECT_EQ(utilisation.description().quantity, Quantity::utilisation);
  EXPECT_EQ(utilisation.description().label, Label::measured);
  EXPECT_TRUE(std::holds_alternative<Gap>(utilisation.read(Seconds(0))));  // no tick yet: not zero
  tree.write("proc/stat", stat(75, 25, 0, 100));
  EXPECT_NEAR(value(utilisation, 1), 0.375, 1e-12);
}

TEST(Model, ReadsItsFileOnceARound) {
  MadeUpTree tree;
  make_machine(tree);
  const Options options = two_processors(tree);
  const auto sources = model_cores(options, machine(options));
  value(*sources.at(0), 0);
  tree.write("proc/stat", stat(75, 25, 0, 100));
  EXPECT_NEAR(value(*sources[0], 1), 2 * (1.5 + 4.5 * std::pow(0.375, 0.7)), 1e-9);
  tree.write("proc/stat", stat(1000, 1000, 1000, 1000));
  EXPECT_NEAR(value(*sources[1], 1.001), 0.375, 1e-12);  // of the text that was read before
  EXPECT_NEAR(value(*sources[1], 1.5), (925. + 1000) / (925 + 975 + 1000 + 900), 1e-12);
}

TEST(Model, SaysThatItIsOneAndFromWhat) {
  MadeUpTree tree;
  make_machine(tree);
  const Options options = two_processors(tree);
  const auto sources = model_cores(options, machine(options));
  const Description& cores = sources.at(0)->description();
  EXPECT_EQ(cores.label, Label::modelled);
  EXPECT_THAT(cores.covers, HasSubstr("2 cores with the processors 0-1 of Abacus 9000"));
  EXPECT_THAT(*cores.formula, HasSubstr("2 cores x (1.5 W + (6 W - 1.5 W) u^0.7)"));
  EXPECT_GE(*cores.bias_relative, 0.5);
  const auto memory = model_memory(machine(options));
  EXPECT_EQ(memory->description().label, Label::modelled);
  EXPECT_THAT(*memory->description().formula, HasSubstr("16.0 GiB"));
  EXPECT_EQ(value(*memory, 5), 0);
  EXPECT_NEAR(value(*memory, 15), 10 * 16 * 0.15, 1e-9);
}

TEST(Model, CountsCoresNotTheirThreads) {
  MadeUpTree tree;
  make_machine(tree);
  for (int processor = 0; processor < 4; ++processor) {
    const fs::path topology = fmt::format("sys/devices/system/cpu/cpu{}/topology", processor);
    tree.write(topology / "physical_package_id", fmt::format("{}\n", processor / 2));
    tree.write(topology / "core_id", "0\n");
  }
  Options options = tree.options();
  options.cores = std::vector{0, 1, 2, 3};
  EXPECT_EQ(machine(options).cores, 2);
  options.cores = std::vector{0, 1, 2, 3, 9};  // not told for one: one core each
  EXPECT_EQ(machine(options).cores, 5);
}

TEST(Model, ProcessorsGivenByManyRanksCountOnce) {
  MadeUpTree tree;
  make_machine(tree);
  Options options = tree.options();
  options.cores = std::vector{1, 0, 1, 1};
  EXPECT_THAT(machine(options).processors, ElementsAre(0, 1));
}

TEST(Model, TakesTheMemoryItsGroupMayUse) {
  MadeUpTree tree;
  make_machine(tree);
  tree.write("proc/self/cgroup", "0::/job/7\n");
  EXPECT_EQ(machine(two_processors(tree)).memory_gib, 16);
  tree.write("sys/fs/cgroup/job/7/memory.max", "max\n");
  EXPECT_EQ(machine(two_processors(tree)).memory_gib, 16);
  tree.write("sys/fs/cgroup/job/7/memory.max", "4294967296\n");
  EXPECT_EQ(machine(two_processors(tree)).memory_gib, 4);
}

TEST(Model, TakesAllMemoryWhereItsGroupIsNotToBeMadeOut) {
  MadeUpTree tree;
  make_machine(tree);
  for (const char* text : {"0::", "0::\n", "garbage", "", "4:memory:", ":memory"}) {
    tree.write("proc/self/cgroup", text);
    EXPECT_EQ(machine(two_processors(tree)).memory_gib, 16) << text;
  }
}

TEST(Model, TakesTheMemoryItsOldStyleGroupMayUse) {
  MadeUpTree tree;
  make_machine(tree);
  tree.write("proc/self/cgroup", "5:cpu:/x\n4:memory:/job/8\n0::/\n");
  tree.write("sys/fs/cgroup/memory/job/8/memory.limit_in_bytes", "2147483648\n");
  EXPECT_EQ(machine(two_processors(tree)).memory_gib, 2);
}

TEST(Model, AFailedReadingIsAGapThatTheNextOneMakesUpFor) {
  MadeUpTree tree;
  make_machine(tree);
  const Options options = two_processors(tree);
  const auto sources = model_cores(options, machine(options));
  value(*sources[0], 0);
  tree.write("proc/stat", "");
  EXPECT_TRUE(std::holds_alternative<Gap>(sources[0]->read(Seconds(5))));
  tree.write("proc/stat", stat(0, 1000, 0, 1000));
  EXPECT_NEAR(value(*sources[0], 10), 30, 1e-9);
}

TEST(Open, WithoutAnyMeterAllIsModelledAndSaysWhy) {
  MadeUpTree tree;
  make_machine(tree);
  const Opened opened = open_sources(two_processors(tree));
  std::vector<std::string> devices;
  for (const auto& source : opened.sources) {
    devices.push_back(source->description().device);
    const bool energy = source->description().quantity == Quantity::energy;
    EXPECT_EQ(source->description().label, energy ? Label::modelled : Label::measured);
  }
  EXPECT_THAT(devices, ElementsAre("cores", "cores", "memory"));
  EXPECT_THAT(opened.unavailable, SizeIs(2));  // RAPL, NVIDIA
}

TEST(Open, WhatIsMeteredIsNotModelled) {
  MadeUpTree tree;
  make_machine(tree);
  const fs::path flat = "sys/class/powercap";
  tree.zone(flat / "intel-rapl:0", "package-0", 1);
  Opened opened = open_sources(two_processors(tree));
  ASSERT_THAT(opened.sources, SizeIs(2));  // AMD: packages, but no memory
  EXPECT_EQ(opened.sources[0]->description().device, "package-0");
  EXPECT_EQ(opened.sources[1]->description().device, "memory");
  EXPECT_EQ(opened.sources[1]->description().label, Label::modelled);
  tree.zone(flat / "intel-rapl:0:0", "dram", 1);
  opened = open_sources(two_processors(tree));
  for (const auto& source : opened.sources) EXPECT_EQ(source->description().label, Label::measured);
}

TEST(Open, WithoutProcNothingIsMadeUp) {
  MadeUpTree tree;
  const Opened opened = open_sources(two_processors(tree));
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(3));
  EXPECT_THAT(opened.unavailable[2].what, HasSubstr("model"));
  EXPECT_THAT(opened.unavailable[2].reason, HasSubstr("meminfo"));
}

TEST(Open, NamesWhatNobodyMeters) {
  MadeUpTree tree;
  make_machine(tree);
  std::vector<Description> seen;
  EXPECT_THAT(unmetered(seen), testing::Contains("processors"));
  for (const auto& source : open_sources(two_processors(tree)).sources)
    seen.push_back(source->description());
  EXPECT_THAT(unmetered(seen), testing::Not(testing::Contains("processors")));
  EXPECT_THAT(unmetered(seen), testing::Contains("network"));
}

TEST(OwnCores, AreThoseOfTheAffinityMask) {
  const std::vector<int> before = own_cores();
  ASSERT_THAT(before, testing::Not(IsEmpty()));
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(std::size_t(before.back()), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_THAT(own_cores(), ElementsAre(before.back()));
}

}  // namespace
}  // namespace parajoule::meter
