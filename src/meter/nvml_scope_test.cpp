// Which power is asked of a GPU, and what else is told of it.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/gpu.h"
#include "meter/made_up_nvml.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class NvmlScopes : public Nvml {
 protected:
  /// The source of a device and quantity, whose number has this unit.
  Source* find(std::string_view device, Quantity quantity, std::string_view unit = "") {
    for (const auto& source : opened.sources) {
      const Description& is = source->description();
      if (is.device == device && is.quantity == quantity && (unit.empty() || is.unit == unit))
        return source.get();
    }
    return nullptr;
  }
  void open(std::vector<std::string> visible = {"0"}) { opened = open_nvml(options(visible)); }

  void become_gh200() {
    gpu().name = "NVIDIA GH200 480GB";
    gpu().architecture = 9;
    gpu().limit_milliwatts = 700'000;
    gpu().module_result = 0;
  }

  Opened opened;
};

TEST_F(NvmlScopes, AsksForTheMomentThenForTheMeanOfASecondThenForWhatNvidiaSmiShows) {
  gpu().name = "NVIDIA H100 80GB HBM3";
  gpu().architecture = 9;
  gpu().average_result = 0;
  open();
  EXPECT_EQ(value(find("GPU 0", Quantity::power)->read(Seconds(0))), 260);
  EXPECT_EQ(find("GPU 0", Quantity::power)->description().window, Seconds(0.025));
  gpu().instant_result = NvmlStub::not_supported;
  open();
  EXPECT_EQ(value(find("GPU 0", Quantity::power)->read(Seconds(0))), 255);
  EXPECT_EQ(find("GPU 0", Quantity::power)->description().window, Seconds(1));
  EXPECT_THAT(*find("GPU 0", Quantity::power)->description().formula, HasSubstr("POWER_AVERAGE"));
  gpu().average_result = NvmlStub::not_supported;
  open();
  EXPECT_EQ(value(find("GPU 0", Quantity::power)->read(Seconds(0))), 250);
}

TEST_F(NvmlScopes, PowerOfTheMemoryIsPartOfTheGpus) {
  gpu().memory_result = 0;
  open();
  Source* memory = find("GPU 0 memory", Quantity::power);
  ASSERT_TRUE(memory);
  EXPECT_EQ(value(memory->read(Seconds(0))), 40);
  EXPECT_EQ(memory->description().part_of, "GPU 0");
  EXPECT_EQ(memory->description().device_kind, "gpu");  // a host's memory is another thing
  EXPECT_EQ(memory->description().window, Seconds(1));
}

TEST_F(NvmlScopes, AMemoryOfNoWattsIsNone) {
  gpu().memory_result = 0;
  gpu().memory_milliwatts = 0;
  open();
  EXPECT_FALSE(find("GPU 0 memory", Quantity::power));
}

TEST_F(NvmlScopes, ABlankValueIsAGapAndNoPower) {
  open();
  Source* power = find("GPU 0", Quantity::power);
  Source* energy = find("GPU 0", Quantity::energy);
  const double before = value(energy->read(Seconds(0)));
  gpu().instant_milliwatts = 0x7ffffff2;
  gpu().millijoules = 9223372036854775794ULL;
  EXPECT_EQ(std::get<Gap>(power->read(Seconds(0.1))).cause, Gap::Cause::failed);
  EXPECT_THAT(std::get<Gap>(power->read(Seconds(0.1))).detail, HasSubstr("blank"));
  EXPECT_THAT(std::get<Gap>(energy->read(Seconds(0.1))).detail, HasSubstr("blank"));
  gpu().millijoules = 5'020'000;
  EXPECT_NEAR(value(energy->read(Seconds(0.2))) - before, 20, 1e-9);
}

TEST_F(NvmlScopes, ACounterThatIsBlankFromTheStartIsNone) {
  gpu().millijoules = ~0ULL;
  open();
  EXPECT_FALSE(find("GPU 0", Quantity::energy));
  EXPECT_THAT(*find("GPU 0", Quantity::power)->description().formula,
              HasSubstr("no energy counter: a blank value"));
}

TEST_F(NvmlScopes, TheModuleOfASuperchipHoldsItsGpuAndHasItsCounter) {
  become_gh200();
  open();
  Source* counter = find("module 0", Quantity::energy);
  Source* module = find("module 0", Quantity::power);
  Source* power = find("GPU 0", Quantity::power);
  ASSERT_TRUE(counter && module && power);
  EXPECT_FALSE(find("GPU 0", Quantity::energy));
  EXPECT_EQ(value(module->read(Seconds(0))), 600);
  EXPECT_EQ(module->description().device_kind, "platform");
  EXPECT_EQ(module->description().part_of, std::nullopt);
  EXPECT_EQ(power->description().part_of, "module 0");
  EXPECT_THAT(counter->description().covers, HasSubstr("whole module with its processor"));
  EXPECT_THAT(power->description().covers, HasSubstr("GPU with its memory"));
}

TEST_F(NvmlScopes, AModuleMayDrawMoreThanItsGpu) {
  become_gh200();
  gpu().module_milliwatts = 2'900'000;
  open();
  EXPECT_EQ(value(find("module 0", Quantity::power)->read(Seconds(0))), 2900);
  gpu().module_milliwatts = 13'000'000;
  EXPECT_EQ(std::get<Gap>(find("module 0", Quantity::power)->read(Seconds(0))).cause,
            Gap::Cause::implausible);
}

TEST_F(NvmlScopes, ASuperchipWithoutScopesMayTellItsModulesPowerAsItsOwn) {
  become_gh200();
  gpu().module_result = gpu().instant_result = NvmlStub::not_supported;
  open();
  EXPECT_FALSE(find("GPU 0", Quantity::power));
  EXPECT_THAT(find("module 0", Quantity::power)->description().covers,
              HasSubstr("may be the whole module with its processor"));
}

TEST_F(NvmlScopes, TwoGpusOfAModuleHaveOneModule) {
  stub->count = 4;
  for (int i = 0; i < 4; ++i) {
    stub->gpus[i].name = "NVIDIA GB200";
    stub->gpus[i].architecture = 10;
    stub->gpus[i].module_result = 0;
    stub->gpus[i].module_milliwatts = 1'000'000u * (i / 2 + 1);
  }
  open({});
  std::vector<std::string> modules;
  for (const auto& source : opened.sources)
    if (source->description().device_kind == "platform")
      modules.push_back(source->description().device);
  EXPECT_THAT(modules, testing::ElementsAre("module 0", "module 1"));
  EXPECT_EQ(find("GPU 1", Quantity::energy)->description().part_of, "module 0");
  EXPECT_EQ(find("GPU 3", Quantity::energy)->description().part_of, "module 1");
  // Whichever of the two a run sees, its module is metered.
  open({"3"});
  EXPECT_EQ(value(find("module 1", Quantity::power)->read(Seconds(0))), 2000);
}

TEST_F(NvmlScopes, AModuleOfNoWattsIsNone) {
  gpu().module_result = 0;
  gpu().module_milliwatts = 0;
  open();
  EXPECT_FALSE(find("module 0", Quantity::power));
  EXPECT_EQ(find("GPU 0", Quantity::power)->description().part_of, std::nullopt);
}

// What else is told -----------------------------------------------------------------------------

TEST_F(NvmlScopes, TellsTemperatureClocksUseMemoryAndWhyItIsHeldBackOnceASecond) {
  gpu().others_result = 0;
  open();
  const auto told = [&](Quantity quantity, std::string_view unit) {
    return value(find("GPU 0", quantity, unit)->read(Seconds(0)));
  };
  EXPECT_EQ(told(Quantity::temperature, "celsius"), 45);
  EXPECT_EQ(told(Quantity::clock, "hertz"), 1.41e9);
  EXPECT_NEAR(told(Quantity::utilisation, "fraction"), 0.87, 1e-12);
  EXPECT_EQ(told(Quantity::memory, "bytes"), 7e9);
  EXPECT_EQ(told(Quantity::clock, "reasons"), 4);
  EXPECT_EQ(told(Quantity::utilisation, "processes"), 0);
  gpu().processes = 3;
  EXPECT_EQ(told(Quantity::utilisation, "processes"), 3);
  std::vector<double> clocks;
  for (const auto& source : opened.sources)
    if (source->description().unit == "hertz") clocks.push_back(value(source->read(Seconds(0))));
  EXPECT_THAT(clocks, testing::ElementsAre(1.41e9, 1.215e9));
  EXPECT_EQ(find("GPU 0", Quantity::temperature)->description().update_period, Seconds(1));
  EXPECT_THAT(*find("GPU 0", Quantity::clock, "reasons")->description().formula,
              HasSubstr("4 power cap"));
}

TEST_F(NvmlScopes, WhatElseFailsCostsNoEnergyAndIsAskedOnceASecond) {
  gpu().others_result = 0;
  open();
  const std::size_t sources = opened.sources.size();
  Seconds now{0};
  Sweep sweep(std::move(opened.sources),
              {.now = [&] { return now; }, .asleep = [] { return Seconds(0); }}, Seconds(0.1));
  gpu().others_result = NvmlStub::gpu_is_lost;
  std::vector<Row> rows;
  for (int i = 0; i <= 100; ++i, now += Seconds(0.1)) {
    for (Row& row : sweep.round()) rows.push_back(std::move(row));
    gpu().millijoules += 25'000;
  }
  const auto series = by_source(sweep.descriptions(), rows);
  ASSERT_EQ(series.size(), sources);
  const NodeAccount node = account(series, {Seconds(0), Seconds(10)});
  EXPECT_NEAR(node.totals.measured->energy().value, 2500, 1);
  const auto temperature = std::ranges::find_if(
      series, [](const Series& one) { return one.description.quantity == Quantity::temperature; });
  ASSERT_NE(temperature, series.end());
  EXPECT_LE(temperature->rows.size(), 11u);
}

/// Questions keep a GPU from its sleep, and too many of them raised the power of some.
TEST_F(NvmlScopes, AGpuIsAskedNoMoreOftenThanItRenewsItsNumbersAtWhateverRate) {
  open();
  const Seconds counter = *find("GPU 0", Quantity::energy)->description().update_period;
  const Seconds power = *find("GPU 0", Quantity::power)->description().update_period;
  Seconds now{0};
  Sweep sweep(std::move(opened.sources),
              {.now = [&] { return now; }, .asleep = [] { return Seconds(0); }}, Seconds(0.001));
  stub->readings = 0;
  for (int i = 0; i < 10'000; ++i, now += Seconds(0.001)) sweep.round();
  EXPECT_GT(stub->readings, 100);
  EXPECT_LE(stub->readings, 10 / counter.count() + 10 / power.count() + 2);
}

TEST_F(NvmlScopes, WhatElseIsNotToldAtTheStartIsNotASource) {
  open();
  EXPECT_FALSE(find("GPU 0", Quantity::temperature));
  EXPECT_THAT(opened.unavailable, IsEmpty());
}

// Timing ----------------------------------------------------------------------------------------

PowerTiming timing(std::string name, unsigned architecture, std::string driver, PowerField field) {
  Gpu gpu{.name = std::move(name), .driver = std::move(driver)};
  gpu.architecture = NvmlArchitecture(architecture);
  return power_timing(gpu, field);
}

TEST(PowerTiming, DependsOnGenerationModelAndDriver) {
  constexpr PowerField usage = PowerField::usage, instant = PowerField::instant;
  const auto window = [](PowerTiming timing) { return timing.window; };
  EXPECT_EQ(window(timing("NVIDIA H100 PCIe", 9, "525.105", usage)), Seconds(1));
  EXPECT_EQ(window(timing("NVIDIA H100 PCIe", 9, "525.105", instant)), Seconds(0.025));
  EXPECT_EQ(window(timing("NVIDIA A100-SXM4-80GB", 7, "530.30", usage)), Seconds(0.025));
  EXPECT_EQ(window(timing("NVIDIA GeForce RTX 3090", 7, "535.54", usage)), Seconds(1));
  EXPECT_EQ(window(timing("NVIDIA GeForce RTX 3090", 7, "530.30", usage)), Seconds(0.1));
  EXPECT_EQ(window(timing("NVIDIA GeForce RTX 4090", 8, "530.30", usage)), Seconds(0.11));
  EXPECT_EQ(window(timing("NVIDIA RTX A5000", 7, "535.54", instant)), Seconds(0.08));
  EXPECT_EQ(window(timing("Quadro RTX 8000", 6, "525.1", usage)), Seconds(0.02));
  EXPECT_EQ(window(timing("Tesla V100-SXM2-16GB", 5, "525.1", usage)), Seconds(0.01));
  EXPECT_EQ(timing("Tesla V100-SXM2-16GB", 5, "525.1", usage).update, Seconds(0.02));
  EXPECT_EQ(timing("Tesla M40", 3, "525.1", usage).update, Seconds(0.031));
  EXPECT_EQ(window(timing("Tesla K80", 2, "470.1", usage)), std::nullopt);
  EXPECT_EQ(window(timing("NVIDIA B200", 10, "570.1", usage)), Seconds(1));
  EXPECT_EQ(window(timing("NVIDIA B200", 10, "570.1", instant)), std::nullopt);
  EXPECT_EQ(window(power_timing(Gpu{.name = "nameless"}, usage)), std::nullopt);
}

}  // namespace
}  // namespace parajoule::meter
