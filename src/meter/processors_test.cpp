#include "meter/processors.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Two packages of two processors each; clocks of 1, 2, 3 and 4 GHz.
struct TwoPackages {
  MadeUpTree tree;

  TwoPackages() {
    for (int processor = 0; processor < 4; ++processor) {
      const auto folder =
          std::filesystem::path("sys/devices/system/cpu") / fmt::format("cpu{}", processor);
      tree.write(folder / "topology/physical_package_id", fmt::format("{}\n", processor / 2));
      tree.write(folder / "cpufreq/scaling_cur_freq", fmt::format("{}000000\n", processor + 1));
      throttled(processor, 500);
    }
    for (int package : {0, 1}) {
      const auto chip = std::filesystem::path(fmt::format("sys/class/hwmon/hwmon{}", 3 + package));
      tree.write(chip / "name", "coretemp\n");
      tree.write(chip / "temp1_input", fmt::format("{}000\n", 45 + package));
      tree.write(chip / "temp1_label", fmt::format("Package id {}\n", package));
      tree.write(chip / "temp2_input", "99000\n");
      tree.write(chip / "temp2_label", "Core 0\n");
    }
  }
  void throttled(int processor, int milliseconds) const {
    tree.write(fmt::format("sys/devices/system/cpu/cpu{}/thermal_throttle/"
                           "package_throttle_total_time_ms",
                           processor),
               fmt::format("{}\n", milliseconds));
  }
  Opened open(std::vector<int> cores) const {
    Options options = tree.options();
    options.cores = std::move(cores);
    return open_processors(options);
  }
};

Source& source_of(const Opened& opened, const std::string& device, Quantity quantity) {
  for (const auto& source : opened.sources)
    if (source->description().device == device && source->description().quantity == quantity)
      return *source;
  throw std::runtime_error(device);
}

TEST(Processors, TellTemperatureClockAndThrottling) {
  const TwoPackages machine;
  const Opened opened = machine.open({0, 1, 2, 3});
  EXPECT_THAT(opened.sources, SizeIs(5));
  EXPECT_THAT(opened.unavailable, IsEmpty());
  for (const auto& source : opened.sources)
    EXPECT_EQ(source->description().update_period, Seconds(1));
  EXPECT_EQ(
      std::get<double>(source_of(opened, "package-1", Quantity::temperature).read(Seconds(0))), 46);
  Source& clock = source_of(opened, "cores", Quantity::clock);
  EXPECT_EQ(clock.description().unit, "hertz");
  EXPECT_NEAR(std::get<double>(clock.read(Seconds(0))), 2.5e9, 1);
}

TEST(Processors, AreThoseOfTheRun) {
  const TwoPackages machine;
  const Opened opened = machine.open({2, 3});
  EXPECT_NEAR(std::get<double>(source_of(opened, "cores", Quantity::clock).read(Seconds(0))), 3.5e9,
              1);
  EXPECT_THROW(source_of(opened, "package-0 throttling", Quantity::utilisation),
               std::runtime_error);
  EXPECT_NO_THROW(source_of(opened, "package-1 throttling", Quantity::utilisation));
}

TEST(Processors, ThrottlingIsAShareOfTheTimeBetweenTwoLooks) {
  const TwoPackages machine;
  const Opened opened = machine.open({0});
  Source& share = source_of(opened, "package-0 throttling", Quantity::utilisation);
  EXPECT_TRUE(std::holds_alternative<Gap>(share.read(Seconds(10))));  // nothing to compare with
  machine.throttled(0, 750);
  EXPECT_NEAR(std::get<double>(share.read(Seconds(11))), 0.25, 1e-12);
  EXPECT_EQ(std::get<double>(share.read(Seconds(12))), 0);
  machine.throttled(0, 9000);
  EXPECT_EQ(std::get<double>(share.read(Seconds(13))), 1);
}

TEST(Processors, OnlyAFewOfManyAreAsked) {
  const MadeUpTree tree;
  Options options = tree.options();
  options.cores = std::vector<int>();
  for (int i = 0; i < 128; ++i) {
    options.cores->push_back(i);
    tree.write(fmt::format("sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", i),
               "1000000\n");
  }
  const Opened opened = open_processors(options);
  ASSERT_THAT(opened.sources, SizeIs(1));
  EXPECT_THAT(opened.sources[0]->description().covers,
              HasSubstr("processors 0,16,32,48,64,80,96,112, cpufreq"));
}

TEST(Processors, OfAMachineThatTellsNothingNothingIsMissed) {
  const MadeUpTree tree;
  Options options = tree.options();
  options.cores = std::vector<int>{0};
  EXPECT_THAT(open_processors(options).sources, IsEmpty());
  EXPECT_THAT(open_processors(options).unavailable, IsEmpty());
}

}  // namespace
}  // namespace parajoule::meter
