#include "meter/cray.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::filesystem::path counters = "sys/cray/pm_counters";

/// A node as an HPE Cray EX shows it.
struct Node {
  MadeUpTree tree;
  int freshness = 100;

  Node() {
    show("energy", "1000000 J 1690000000000000 us");
    show("power", "512 W 1690000000000000 us");
    show("cpu_energy", "300000 J 1690000000000000 us");
    show("memory_energy", "80000 J 1690000000000000 us");
    show("accel0_energy", "150000 J 1690000000000000 us");
    show("accel1_energy", "160000 J 1690000000000000 us");
    show("generation", "3");
    fresh();
  }
  void show(const char* file, const std::string& text) const {
    tree.write(counters / file, text + "\n");
  }
  void fresh() { show("freshness", std::to_string(++freshness)); }
  Opened open() const { return open_cray(tree.options()); }
};

double joules(Source& source, double now) {
  const Reading reading = source.read(Seconds(now));
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

TEST(Cray, ReadsTheNodeAndItsDivisions) {
  const Node node;
  const Opened opened = node.open();
  std::vector<std::string> devices;
  for (const auto& source : opened.sources) {
    const Description& description = source->description();
    devices.push_back(description.device);
    EXPECT_EQ(description.part_of.has_value(), description.device != "node");
    EXPECT_THAT(description.covers, HasSubstr("never seen on real hardware"));
  }
  EXPECT_THAT(devices, ElementsAre("node", "node", "node cpu", "node memory", "node accelerator 0",
                                   "node accelerator 1"));
  EXPECT_EQ(opened.sources[0]->description().device_kind, "node");
  EXPECT_EQ(opened.sources[4]->description().device_kind, "gpu");
  EXPECT_EQ(joules(*opened.sources[0], 0), 1000000);
  EXPECT_EQ(joules(*opened.sources[1], 0), 512);
}

TEST(Cray, OtherMachinesHaveNoneAndNothingIsSaid) {
  const MadeUpTree tree;
  const Opened opened = open_cray(tree.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  EXPECT_THAT(opened.unavailable, IsEmpty());
}

TEST(Cray, ANewGenerationIsAResetThatLosesOnlyWhatWasDrawnAroundIt) {
  Node node;
  const Opened opened = node.open();
  Source& energy = *opened.sources[0];
  joules(energy, 0);
  node.show("energy", "1000050 J 1 us");
  EXPECT_EQ(joules(energy, 0.1), 1000050);
  node.show("generation", "4");
  node.show("energy", "7 J 1 us");
  const Reading reset = energy.read(Seconds(0.2));
  ASSERT_TRUE(std::holds_alternative<Gap>(reset));
  EXPECT_EQ(std::get<Gap>(reset).cause, Gap::Cause::reset);
  EXPECT_THAT(std::get<Gap>(reset).detail, HasSubstr("from 3 to 4"));
  node.show("energy", "57 J 1 us");
  EXPECT_EQ(joules(energy, 0.3), 1000100);
}

TEST(Cray, NumbersThatAreNotRenewedAreOldAndNotTaken) {
  Node node;
  const Opened opened = node.open();
  Source& power = *opened.sources[1];
  EXPECT_EQ(joules(power, 0), 512);
  EXPECT_EQ(joules(power, 4.9), 512);
  const Reading old = power.read(Seconds(5.2));
  ASSERT_TRUE(std::holds_alternative<Gap>(old));
  EXPECT_THAT(std::get<Gap>(old).detail, HasSubstr("not renewed for 5.2 s"));
  node.fresh();
  EXPECT_EQ(joules(power, 5.3), 512);
}

TEST(Cray, WhatCannotBeReadIsSaid) {
  const Node node;
  node.show("energy", "unavailable");
  node.show("power", "512 J 1 us");
  const Opened opened = node.open();
  EXPECT_THAT(opened.sources, SizeIs(4));
  ASSERT_THAT(opened.unavailable, SizeIs(2));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("unavailable"));
  EXPECT_EQ(opened.unavailable[0].state, Unavailable::State::dead);
}

TEST(Cray, TakesANumberOnlyWithItsUnit) {
  EXPECT_EQ(cray_number("1234 J 1690000000 us\n", "J"), 1234u);
  EXPECT_EQ(cray_number("250 W\n", "W"), 250u);
  for (const char* text : {"", "1234", "1234 ", "J", "-5 J", "1234J", "1234 W 1 us", "1234 JJ",
                           "99999999999999999999999 J"})
    EXPECT_EQ(cray_number(text, "J"), std::nullopt) << text;
}

}  // namespace
}  // namespace parajoule::meter
