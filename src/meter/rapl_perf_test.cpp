#include <cmath>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_perf.h"
#include "meter/made_up_tree.h"
#include "meter/rapl.h"

namespace parajoule::meter {
namespace {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

const fs::path flat = "sys/class/powercap";
constexpr double joule = 4294967296.0;  // counts of 2^-32 J

struct Machine {
  MadeUpTree tree;
  MadeUpPerf perf;
  Opened open() {
    Options options = tree.options();
    options.perf = perf.opener();
    return open_rapl(options);
  }
  void show(std::uint64_t config, int processor, double joules) {
    perf.counts[{config, processor}] = std::uint64_t(joules * joule);
  }
};

std::vector<std::string> devices(const Opened& opened) {
  std::vector<std::string> all;
  for (const auto& source : opened.sources) all.push_back(source->description().device);
  return all;
}

double joules(Source& source, double now) {
  const Reading reading = source.read(Seconds(now));
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

TEST(RaplPerf, AloneGivesEveryDomain) {
  Machine machine;
  perf_unit(machine.tree, "0,16");
  perf_topology(machine.tree, 0, 0);
  perf_topology(machine.tree, 16, 1);
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), ElementsAre("platform", "package-0", "package-0 core",
                                           "package-0 uncore", "package-0 dram", "package-1",
                                           "package-1 core", "package-1 uncore", "package-1 dram"));
  const Description& memory = opened.sources.at(4)->description();
  EXPECT_EQ(memory.device_kind, "memory");
  EXPECT_EQ(memory.part_of, "platform");
  EXPECT_EQ(opened.sources.at(2)->description().part_of, "package-0");
  EXPECT_THAT(memory.covers, HasSubstr("memory of cpu package 0, RAPL perf_event "
                                       "(power/energy-ram/ on processor 0)"));
  EXPECT_THAT(memory.covers, HasSubstr("never seen on real hardware"));
  // That powercap has no zone is told, and that it is no loss.
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_TRUE(opened.unavailable[0].spare());
}

TEST(RaplPerf, CountsInTheUnitOfTheEvent) {
  Machine machine;
  perf_unit(machine.tree, "0");
  const Opened opened = machine.open();
  Source& package = *opened.sources.at(1);
  ASSERT_EQ(package.description().device, "package-0");
  const double before = joules(package, 0);
  machine.show(2, 0, 37.5);
  EXPECT_NEAR(joules(package, 0.1) - before, 37.5, 1e-6);
  machine.show(2, 0, 300'000);  // far beyond the range of the register: the kernel counts on
  joules(package, 600);
  machine.show(2, 0, 300'010);
  EXPECT_NEAR(joules(package, 600.1) - before, 300'010, 1e-3);
}

TEST(RaplPerf, AndPowercapAreTwoSourcesOfOneDeviceOfWhichPowercapsCounts) {
  Machine machine;
  machine.tree.zone(flat / "intel-rapl:0", "package-0", 5'000'000);
  machine.tree.zone(flat / "intel-rapl:0:0", "dram", 1'000'000);
  perf_unit(machine.tree, "0");
  fs::remove(machine.tree.root() / "sys/bus/event_source/devices/power/events/energy-psys");
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), ElementsAre("package-0", "package-0 dram", "package-0",
                                           "package-0 core", "package-0 uncore", "package-0 dram"));
  EXPECT_THAT(opened.sources[0]->description().covers, HasSubstr("powercap"));
  EXPECT_THAT(opened.sources[2]->description().covers, HasSubstr("perf_event"));
  EXPECT_EQ(opened.sources[3]->description().part_of, "package-0");
}

TEST(RaplPerf, WithPowercapAloneNothingIsSaidOfIt) {
  Machine machine;
  machine.tree.zone(flat / "intel-rapl:0", "package-0", 5'000'000);
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), ElementsAre("package-0"));
  EXPECT_THAT(opened.unavailable, IsEmpty());
  EXPECT_EQ(machine.perf.opened, 0);
}

TEST(RaplPerf, ARefusalIsToldOnceWithItsRemedy) {
  for (int refusal : {EACCES, EPERM}) {
    Machine machine;
    perf_unit(machine.tree, "0,16");
    machine.tree.write("proc/sys/kernel/perf_event_paranoid", "4\n");
    machine.perf.refusal = refusal;
    const Opened opened = machine.open();
    EXPECT_THAT(opened.sources, IsEmpty());
    ASSERT_THAT(opened.unavailable, SizeIs(2));  // powercap's, and this
    EXPECT_THAT(opened.unavailable[1].reason, HasSubstr("perf_event_paranoid is 4"));
    EXPECT_THAT(opened.unavailable[1].remedy, HasSubstr("sudo sysctl kernel.perf_event_paranoid"));
    EXPECT_FALSE(opened.unavailable[1].spare());
  }
}

TEST(RaplPerf, ARefusalIsNoLossWherePowercapCanBeRead) {
  Machine machine;
  machine.tree.zone(flat / "intel-rapl:0", "package-0", 5'000'000);
  perf_unit(machine.tree, "0");
  machine.perf.refusal = EACCES;
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), ElementsAre("package-0"));
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_TRUE(opened.unavailable[0].spare());
}

TEST(RaplPerf, AnUnreadableZoneIsNoLossWherePerfHasItsDevice) {
  Machine machine;
  machine.tree.zone(flat / "intel-rapl:0", "package-0", 5'000'000);
  machine.tree.zone(flat / "intel-rapl:1", "package-1", 5'000'000);
  for (const char* zone : {"intel-rapl:0", "intel-rapl:1"})
    fs::remove(machine.tree.root() / flat / zone / "energy_uj");
  perf_unit(machine.tree, "0");
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), Contains("package-0"));
  ASSERT_THAT(opened.unavailable, SizeIs(2));
  EXPECT_TRUE(opened.unavailable[0].spare());
  EXPECT_FALSE(opened.unavailable[1].spare());
}

TEST(RaplPerf, AnEventThatIsListedButNotThereIsSaid) {
  Machine machine;
  perf_unit(machine.tree, "0");
  machine.perf.missing[{3, 0}] = ENOENT;
  const Opened opened = machine.open();
  EXPECT_THAT(devices(opened), Not(Contains("package-0 dram")));
  ASSERT_THAT(opened.unavailable, SizeIs(2));
  EXPECT_THAT(opened.unavailable[1].what, HasSubstr("memory of cpu package 0"));
  EXPECT_THAT(opened.unavailable[1].reason, HasSubstr("No such file"));
}

TEST(RaplPerf, OnAmdOnlyPackagesAreTakenAndDiesAreOneDevice) {
  Machine machine;
  machine.tree.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  perf_unit(machine.tree, "0,8");
  perf_topology(machine.tree, 0, 0, 0);
  perf_topology(machine.tree, 8, 0, 1);
  EXPECT_THAT(devices(machine.open()), ElementsAre("package-0-die-0", "package-0-die-0"));
}

TEST(RaplPerf, DiesOfOtherMakesHaveCountersOfTheirOwn) {
  Machine machine;
  machine.tree.write("proc/cpuinfo", "vendor_id\t: GenuineIntel\n");
  perf_unit(machine.tree, "0,8");
  perf_topology(machine.tree, 0, 0, 0);
  perf_topology(machine.tree, 8, 0, 1);
  EXPECT_THAT(devices(machine.open()),
              AllOf(Contains("package-0-die-0"), Contains("package-0-die-1")));
}

TEST(RaplPerf, OnePackageOfTwoMirroredDiesIsOneDevice) {
  Machine machine;
  machine.tree.write("proc/cpuinfo", "vendor_id\t: AuthenticAMD\n");
  machine.tree.zone(flat / "intel-rapl:0", "package-0-die-0", 68'000'000);
  machine.tree.zone(flat / "intel-rapl:1", "package-0-die-1", 68'000'100);
  perf_unit(machine.tree, "0");
  EXPECT_THAT(devices(machine.open()), AllOf(SizeIs(3), Each(std::string("package-0-die-0"))));
}

TEST(RaplPerf, OnePackageOfTwoSoundDiesHoldsThem) {
  Machine machine;
  machine.tree.zone(flat / "intel-rapl:0", "package-0-die-0", 68'000'000);
  machine.tree.zone(flat / "intel-rapl:1", "package-0-die-1", 91'000'000);
  perf_unit(machine.tree, "0");
  fs::remove(machine.tree.root() / "sys/bus/event_source/devices/power/events/energy-psys");
  const Opened opened = machine.open();
  EXPECT_EQ(opened.sources[0]->description().part_of, "package-0");
  EXPECT_EQ(opened.sources[1]->description().part_of, "package-0");
  EXPECT_EQ(opened.sources[2]->description().device, "package-0");
}

TEST(RaplPerf, NonsenseInTheTreeIsNoSource) {
  const fs::path unit = "sys/bus/event_source/devices/power";
  const std::pair<const char*, const char*> spoilt[] = {{"type", "nine"},
                                                        {"cpumask", ""},
                                                        {"cpumask", "3-1"},
                                                        {"cpumask", "0,0"},
                                                        {"cpumask", "0-99999999"},
                                                        {"events/energy-pkg", "event=0x02,umask=1"},
                                                        {"events/energy-pkg", ""},
                                                        {"events/energy-pkg.scale", "0"},
                                                        {"events/energy-pkg.scale", "nan"},
                                                        {"events/energy-pkg.unit", "Watts"}};
  for (const auto& [file, text] : spoilt) {
    Machine machine;
    perf_unit(machine.tree, "0");
    machine.tree.write(unit / file, std::string(text) + "\n");
    EXPECT_THAT(devices(machine.open()), Not(Contains("package-0"))) << file << " " << text;
  }
}

TEST(RaplPerf, MemoryOfSapphireRapidsIsDoubtedOnOldKernels) {
  const auto memory = [](const char* model, const char* kernel) {
    Machine machine;
    machine.tree.write("proc/cpuinfo", fmt::format("vendor_id\t: GenuineIntel\ncpu family\t: 6\n"
                                                   "model\t\t: {}\nmodel name\t: x\n",
                                                   model));
    machine.tree.write("proc/sys/kernel/osrelease", std::string(kernel) + "\n");
    machine.tree.zone(flat / "intel-rapl:0", "package-0", 5'000'000);
    machine.tree.zone(flat / "intel-rapl:0:0", "dram", 1'000'000);
    return machine.open().sources.at(1)->description();
  };
  EXPECT_THAT(memory("143", "5.14.0-427.el9").covers, HasSubstr("may show a quarter"));
  EXPECT_EQ(memory("143", "5.14.0-427.el9").bias_relative, 3);
  EXPECT_THAT(memory("143", "6.1.0-18-amd64").covers, Not(HasSubstr("quarter")));
  EXPECT_EQ(memory("143", "6.1.0-18-amd64").bias_relative, 0.2);
  EXPECT_THAT(memory("106", "5.14.0").covers, Not(HasSubstr("quarter")));
  EXPECT_THAT(memory("14", "5.14.0").covers, Not(HasSubstr("quarter")));
}

TEST(RaplPerf, TheKernelsOwnOpenerRefusesWhatCannotBe) {
  const OpenedPerfCounter opened =
      open_perf_counter({.type = 0xffffff, .config = 2, .processor = 0});
  ASSERT_TRUE(std::holds_alternative<Failure>(opened));
  EXPECT_NE(std::get<Failure>(opened).code, 0);
}

}  // namespace
}  // namespace parajoule::meter
