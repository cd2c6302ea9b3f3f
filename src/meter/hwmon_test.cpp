#include "meter/hwmon.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/hwmon_chips.h"
#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

namespace fs = std::filesystem;
using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A machine's chips, each at a device of its own.
struct Chips {
  MadeUpTree tree;
  int count = 0;

  /// A new chip; its files lie beside it, or in its device's folder as the ACPI meter's do.
  fs::path add(const std::string& name, const std::string& place) {
    const fs::path folder = fmt::format("sys/class/hwmon/hwmon{}", count++);
    tree.write(folder / "name", name + "\n");
    fs::create_directories(tree.root() / "sys/devices" / place);
    fs::create_directory_symlink(tree.root() / "sys/devices" / place,
                                 tree.root() / folder / "device");
    return folder;
  }

  void grace_meter(const std::string& words, int watts) {
    const fs::path device = add("power_meter", fmt::format("ACPI000D:{:02}", count)) / "device";
    tree.write(device / "power1_average", fmt::format("{}\n", watts * 1'000'000));
    tree.write(device / "power1_average_interval", "50\n");
    tree.write(device / "power1_oem_info", words + "\n");
  }

  Opened open() const { return open_hwmon(tree.options()); }
};

std::map<std::string, Description> devices(const Opened& opened) {
  std::map<std::string, Description> found;
  for (const auto& source : opened.sources)
    found.emplace(source->description().device, source->description());
  return found;
}

double value_of(const Opened& opened, const std::string& device) {
  for (const auto& source : opened.sources)
    if (source->description().device == device) {
      const Reading reading = source->read(Seconds(0));
      EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
      return std::get<double>(reading);
    }
  ADD_FAILURE() << device;
  return 0;
}

void add_two_graces(Chips& chips) {
  chips.grace_meter("Module Power Socket 0", 640);
  chips.grace_meter("Grace Power Socket 0", 180);
  chips.grace_meter("CPU Power Socket 0", 110);
  chips.grace_meter("SysIO Power Socket 0", 25);
  chips.grace_meter("Grace Power Socket 1", 150);
  chips.grace_meter("CPU Power Socket 1", 90);
  chips.grace_meter("SysIO Power Socket 1", 20);
}

TEST(Hwmon, KnowsTheMetersOfGrace) {
  Chips chips;
  add_two_graces(chips);
  const Opened opened = chips.open();
  const auto found = devices(opened);
  EXPECT_THAT(found, SizeIs(9));
  EXPECT_EQ(value_of(opened, "superchip 0"), 640);
  EXPECT_EQ(value_of(opened, "grace 0"), 180);
  EXPECT_EQ(value_of(opened, "grace 0 cpu"), 110);
  EXPECT_NEAR(value_of(opened, "grace 0 dram"), 180 - 110 - 25, 1e-6);
  EXPECT_NEAR(value_of(opened, "grace 1 dram"), 150 - 90 - 20, 1e-6);
  EXPECT_EQ(found.at("superchip 0").device_kind, "module");
  EXPECT_EQ(found.at("grace 0").part_of, std::nullopt);
  EXPECT_EQ(found.at("grace 0 cpu").part_of, "grace 0");
  EXPECT_EQ(found.at("grace 1 sysio").part_of, "grace 1");
  EXPECT_EQ(found.at("grace 0 dram").part_of, "grace 0");
  EXPECT_EQ(found.at("grace 0 dram").device_kind, "memory");
  EXPECT_THAT(*found.at("grace 0 dram").formula, HasSubstr("grace - cpu - sysio"));
  EXPECT_EQ(found.at("grace 0").window, Seconds(0.05));
  for (const auto& [device, description] : found)
    EXPECT_THAT(description.covers, HasSubstr("never seen on real hardware")) << device;
}

TEST(Hwmon, GraceIsCountedOnceAndItsModuleBeside) {
  Chips chips;
  add_two_graces(chips);
  const Opened opened = chips.open();
  std::vector<Series> series;
  for (const auto& source : opened.sources) {
    Series one{source->description(), {}};
    for (int i = 0; i <= 20; ++i)
      one.rows.push_back({0, Seconds(0.5 * i), source->read(Seconds(0.5 * i))});
    series.push_back(one);
  }
  const NodeAccount node = account(series, {Seconds(1), Seconds(9)});
  EXPECT_NEAR(node.totals.measured->energy().value, 8 * (180 + 150), 1e-6);
  ASSERT_THAT(node.wholes, SizeIs(1));
  EXPECT_EQ(node.sources[node.wholes[0].source].description.device, "superchip 0");
}

TEST(Hwmon, AMemoryBelowNothingIsImplausible) {
  Chips chips;
  chips.grace_meter("Grace Power Socket 0", 100);
  chips.grace_meter("CPU Power Socket 0", 90);
  chips.grace_meter("SysIO Power Socket 0", 25);
  const Opened opened = chips.open();
  const Reading memory = opened.sources.back()->read(Seconds(0));
  EXPECT_EQ(opened.sources.back()->description().device, "grace 0 dram");
  EXPECT_EQ(std::get<Gap>(memory).cause, Gap::Cause::implausible);
}

TEST(Hwmon, NamesNeverHoldTheNumberOfAChip) {
  const auto named = [](bool later) {
    Chips chips;
    if (later) chips.add("acpitz", "LNXTHERM:00");
    const fs::path chip = chips.add("ina3221", "1-0040");
    chips.tree.write(chip / "in1_label", "VDD_IN\n");
    chips.tree.write(chip / "curr1_input", "1500\n");
    chips.tree.write(chip / "in1_input", "12000\n");
    const Opened opened = chips.open();
    return opened.sources.at(0)->description();
  };
  EXPECT_EQ(named(false), named(true));
  EXPECT_EQ(named(true).device, "ina3221 VDD_IN");
  EXPECT_THAT(named(true).covers, testing::Not(HasSubstr("hwmon1")));
}

TEST(Hwmon, CurrentTimesVoltageIsAPower) {
  Chips chips;
  const fs::path chip = chips.add("ina3221", "1-0040");
  chips.tree.write(chip / "in1_label", "VDD_IN\n");
  chips.tree.write(chip / "curr1_input", "1500\n");  // mA
  chips.tree.write(chip / "in1_input", "12000\n");   // mV
  chips.tree.write(chip / "curr2_input", "1500\n");  // no voltage of that number
  const Opened opened = chips.open();
  ASSERT_THAT(opened.sources, SizeIs(1));
  EXPECT_NEAR(value_of(opened, "ina3221 VDD_IN"), 18, 1e-9);
  EXPECT_EQ(opened.sources[0]->description().device_kind, "sensor");
  EXPECT_THAT(*opened.sources[0]->description().formula, HasSubstr("curr1_input times in1_input"));
}

TEST(Hwmon, WhatAnotherFamilyReadsIsLeftOutWithThatReason) {
  Chips chips;
  for (const char* name : {"nvidia", "amd_energy"})
    chips.tree.write(chips.add(name, std::string("0000:03:00.") + name) / "energy1_input", "1\n");
  chips.tree.write(chips.add("coretemp", "coretemp.0") / "temp1_input", "45000\n");
  const Opened opened = chips.open();
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(2));
  for (const Unavailable& one : opened.unavailable) EXPECT_TRUE(one.spare());
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("RAPL"));
}

TEST(Hwmon, ReadsAmdGpusWhereTheirLibraryIsNotHere) {
  Chips chips;
  const fs::path board = chips.add("amdgpu", "0000:03:00.0");
  chips.tree.write(board / "power1_average", "217000000\n");
  chips.tree.write(board / "power1_cap", "300000000\n");
  chips.tree.write(chips.add("amdgpu", "0000:c4:00.0") / "power1_input", "9000000\n");
  const Opened opened = chips.open();
  ASSERT_THAT(opened.sources, SizeIs(2));
  const Description& gpu = opened.sources[0]->description();
  EXPECT_EQ(gpu.device_kind, "gpu");
  EXPECT_TRUE(gpu.covers.starts_with(amd_by_hwmon)) << gpu.covers;
  EXPECT_EQ(std::get<double>(opened.sources[0]->read(Seconds(0))), 217);
  // Within a processor there is no limit to set, and the package has its power already.
  EXPECT_EQ(opened.sources[1]->description().device_kind, "sensor");
}

TEST(Hwmon, LeavesAmdGpusToTheirLibraryWhereItAnswers) {
  Chips chips;
  chips.tree.write(chips.add("amdgpu", "0000:03:00.0") / "power1_average", "217000000\n");
  Options options = chips.tree.options();
  options.amd_smi = AMD_STUB;
  const Opened opened = open_hwmon(options);
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_TRUE(opened.unavailable[0].spare());
}

TEST(Hwmon, WhatAnAmdGpuTellsByItsDriverIsNotMissing) {
  Chips chips;
  const fs::path board = chips.add("amdgpu", "0000:03:00.0");
  chips.tree.write(board / "power1_average", "217000000\n");
  chips.tree.write(board / "power1_cap", "300000000\n");
  chips.tree.write("sys/module/amdgpu/x", "");
  for (const Unavailable& one : open_sources(chips.tree.options()).unavailable)
    EXPECT_TRUE(one.what != "AMD GPUs" || one.spare()) << one.reason;
}

TEST(Hwmon, TheAcpiMeterWithoutWordsIsTheNodes) {
  Chips chips;
  const fs::path device = chips.add("power_meter", "ACPI000D:00") / "device";
  chips.tree.write(device / "power1_average", "344000000\n");
  chips.tree.write(device / "power1_average_interval", "1000\n");
  chips.tree.write(device / "power1_accuracy", "97.5%\n");
  const Opened opened = chips.open();
  ASSERT_THAT(opened.sources, SizeIs(1));
  const Description& node = opened.sources[0]->description();
  EXPECT_EQ(node.device, "node");
  EXPECT_EQ(node.device_kind, "node");
  EXPECT_EQ(node.window, Seconds(1));
  EXPECT_NEAR(*node.bias_relative, 0.025, 1e-12);
  EXPECT_EQ(value_of(opened, "node"), 344);
}

TEST(Hwmon, EnergyOfAGpuCountsAndItsPackageIsWithin) {
  Chips chips;
  for (const char* place : {"0000:03:00.0", "0000:04:00.0"}) {
    const fs::path chip = chips.add("xe", place);
    chips.tree.write(chip / "energy1_input", "5000000\n");
    chips.tree.write(chip / "energy1_label", "card\n");
    chips.tree.write(chip / "energy2_input", "3000000\n");
    chips.tree.write(chip / "energy2_label", "pkg\n");
  }
  const Opened opened = chips.open();
  const auto found = devices(opened);
  EXPECT_THAT(found, SizeIs(4));
  EXPECT_EQ(found.at("xe 0000:04:00.0 pkg").part_of, "xe 0000:04:00.0 card");
  EXPECT_EQ(found.at("xe 0000:03:00.0 card").device_kind, "gpu");
  EXPECT_EQ(value_of(opened, "xe 0000:03:00.0 card"), 5);
}

TEST(Hwmon, AnAverageIsTakenBeforeAMomentAndAFileThatFailsIsSaid) {
  Chips chips;
  const fs::path chip = chips.add("psu", "1-0058");
  chips.tree.write(chip / "power1_average", "200000000\n");
  chips.tree.write(chip / "power1_input", "210000000\n");
  chips.tree.write(chip / "power2_input", "\n");
  const Opened opened = chips.open();
  ASSERT_THAT(opened.sources, SizeIs(1));
  EXPECT_EQ(value_of(opened, "psu power1"), 200);
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("power2_input"));
}

TEST(Hwmon, NoChipsAreNothing) {
  const MadeUpTree none;
  EXPECT_THAT(open_hwmon(none.options()).sources, IsEmpty());
  EXPECT_THAT(open_hwmon(none.options()).unavailable, IsEmpty());
  Chips chips;
  chips.tree.write("sys/class/hwmon/hwmon7/power_input", "1\n");
  chips.tree.write("sys/class/hwmon/hwmon7/powerX_input", "1\n");
  chips.tree.write("sys/class/hwmon/hwmon7/power1_inputs", "1\n");
  EXPECT_THAT(chips.open().sources, IsEmpty());
}

TEST(GraceMeter, IsKnownByTheWordsOfTheFirmware) {
  using Part = GraceMeter::Part;
  EXPECT_EQ(grace_meter("Module Power Socket 0"), (GraceMeter{Part::whole, 0}));
  EXPECT_EQ(grace_meter("SysIO Power Socket 13"), (GraceMeter{Part::sysio, 13}));
  for (const char* other : {"", "CPU Power Socket", "CPU Power Socket ", "CPU Power Socket x",
                            "CPU Power Socket 1 ", "CPU Power Socket -1", "GPU Power Socket 0"})
    EXPECT_EQ(grace_meter(other), std::nullopt) << other;
}

}  // namespace
}  // namespace parajoule::meter
