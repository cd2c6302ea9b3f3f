#include "meter/modules.h"

#include <cstdio>

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_source.h"
#include "meter/made_up_tree.h"
#include "meter/nvml_stub.h"
#include "meter/open.h"
#include "meter/sweep.h"

namespace parajoule::meter {
namespace {

using base::Seconds;

struct Device {
  std::string name;
  std::string whole;  ///< empty: stands for itself
  double watts;
};

/// Steady powers of devices, as their families describe them.
std::vector<std::unique_ptr<Source>> sources(const std::vector<Device>& devices) {
  std::vector<std::unique_ptr<Source>> sources;
  for (const Device& device : devices) {
    Description description = described(device.name, Quantity::power);
    if (!device.whole.empty()) description.part_of = device.whole;
    const double watts = device.watts;
    sources.push_back(made_up(description, [watts](Seconds) { return watts; }));
  }
  return sources;
}

double joules_of_a_second(std::vector<std::unique_ptr<Source>> sources) {
  Seconds now{0};
  Sweep sweep(std::move(sources), {.now = [&] { return now; }, .asleep = [] { return Seconds(0); }},
              Seconds(0.1));
  std::vector<Row> rows;
  for (int i = 0; i <= 10; ++i, now += Seconds(0.1))
    for (Row& row : sweep.round()) rows.push_back(std::move(row));
  return account(by_source(sweep.descriptions(), rows), {Seconds(0), Seconds(1)})
      .totals.measured->energy()
      .value;
}

TEST(Modules, HoldTheirProcessorAndItsParts) {
  auto superchip = sources({{"module 0", "", 600},
                            {"GPU 0", "module 0", 450},
                            {"grace 0", "", 120},
                            {"grace 0 cpu", "grace 0", 80}});
  relate_modules(superchip);
  EXPECT_EQ(superchip[2]->description().part_of, "module 0");
  EXPECT_EQ(superchip[3]->description().part_of, "grace 0");
  EXPECT_NEAR(joules_of_a_second(std::move(superchip)), 600, 1e-6);
}

TEST(Modules, AProcessorWithoutItsModuleStandsForItself) {
  auto two = sources({{"module 0", "", 600}, {"grace 0", "", 120}, {"grace 1", "", 130}});
  relate_modules(two);
  EXPECT_EQ(two[2]->description().part_of, std::nullopt);
  EXPECT_NEAR(joules_of_a_second(std::move(two)), 730, 1e-6);
  auto alone = sources({{"grace 0", "", 120}});
  relate_modules(alone);
  EXPECT_EQ(alone[0]->description().part_of, std::nullopt);
}

TEST(Modules, WhatIsPartOfSomethingStaysThat) {
  auto known = sources({{"module 0", "", 600}, {"grace 0", "elsewhere", 120}});
  relate_modules(known);
  EXPECT_EQ(known[1]->description().part_of, "elsewhere");
}

/// A machine with a Grace that hwmon meters and its Hopper, whose module NVML meters.
TEST(Modules, AreRelatedForWhoAsksFamilyByFamily) {
  void* stub = ::dlopen(NVML_STUB, RTLD_NOW);
  ASSERT_NE(stub, nullptr);
  auto* nvml = static_cast<NvmlStub*>(::dlsym(stub, "nvml_stub"));
  *nvml = NvmlStub();
  std::snprintf(nvml->gpus[0].uuid, sizeof nvml->gpus[0].uuid, "GPU-0");
  nvml->gpus[0].name = "NVIDIA GH200 480GB";
  nvml->gpus[0].architecture = 9;
  nvml->gpus[0].module_result = 0;
  MadeUpTree tree;
  tree.write("sys/class/hwmon/hwmon0/name", "power_meter\n");
  tree.write("sys/class/hwmon/hwmon0/power1_average", "250000000\n");
  tree.write("sys/class/hwmon/hwmon0/power1_oem_info", "Grace Power Socket 0\n");
  Options options = tree.options();
  options.nvml = NVML_STUB;
  options.visible_devices = std::vector<std::string>();
  bool found = false;
  for (const OpenedFamily& family : open_families(options))
    for (const auto& source : family.opened.sources) {
      const Description& description = source->description();
      if (description.device != "grace 0") continue;
      found = true;
      EXPECT_EQ(description.part_of, "module 0");
    }
  EXPECT_TRUE(found);
  ::dlclose(stub);
}

}  // namespace
}  // namespace parajoule::meter
