#include "meter/rapl.h"

#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meter/account.h"
#include "meter/made_up_tree.h"
#include "meter/nobody.h"

namespace parajoule::meter {
namespace {

namespace fs = std::filesystem;
using base::Seconds;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const fs::path flat = "sys/class/powercap";

std::map<std::string, Description> devices(const Opened& opened) {
  std::map<std::string, Description> found;
  for (const auto& source : opened.sources)
    found.emplace(source->description().device, source->description());
  return found;
}

double joules(Source& source, double now) {
  const Reading reading = source.read(Seconds(now));
  EXPECT_TRUE(std::holds_alternative<double>(reading)) << written(std::get<Gap>(reading));
  return std::get<double>(reading);
}

void one_package(const MadeUpTree& tree) {
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  tree.zone(flat / "intel-rapl:0:0", "core", 300'000);
  tree.zone(flat / "intel-rapl:0:1", "uncore", 0);
  tree.zone(flat / "intel-rapl:0:2", "dram", 500'000);
}

TEST(Rapl, ReadsEveryDomainAndSaysWhatHoldsWhat) {
  MadeUpTree tree;
  one_package(tree);
  const Opened opened = open_rapl(tree.options());
  const auto found = devices(opened);
  EXPECT_THAT(found, SizeIs(4));
  EXPECT_THAT(opened.unavailable, IsEmpty());
  EXPECT_EQ(found.at("package-0").part_of, std::nullopt);
  EXPECT_EQ(found.at("package-0").device_kind, "cpu");
  EXPECT_EQ(found.at("package-0 core").part_of, "package-0");
  EXPECT_EQ(found.at("package-0 uncore").part_of, "package-0");
  EXPECT_EQ(found.at("package-0 dram").part_of, std::nullopt);
  EXPECT_EQ(found.at("package-0 dram").device_kind, "memory");
  EXPECT_THAT(found.at("package-0").covers,
              HasSubstr("cpu package 0, RAPL powercap (intel-rapl:0)"));
  EXPECT_THAT(found.at("package-0 dram").covers, HasSubstr("memory of cpu package 0"));
  EXPECT_THAT(found.at("package-0").covers, HasSubstr("never seen on real hardware"));
}

TEST(Rapl, EnergyIsTheDifferenceInJoules) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  const Opened opened = open_rapl(tree.options());
  Source& package = *opened.sources.at(0);
  const double before = joules(package, 0);
  tree.show(flat / "intel-rapl:0", 3'500'000);
  EXPECT_NEAR(joules(package, 0.1) - before, 2.5, 1e-9);
}

TEST(Rapl, CountsThroughTheRangeOfTheZone) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 262'143'000'000);
  const Opened opened = open_rapl(tree.options());
  Source& package = *opened.sources.at(0);
  const double before = joules(package, 0);
  tree.show(flat / "intel-rapl:0", 5'000'000);
  EXPECT_NEAR(joules(package, 1) - before, 5.328850, 1e-6);
}

TEST(Rapl, WithoutAReadableRangeAFallIsFlaggedAndNeverNegative) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 262'143'000'000);
  fs::remove(tree.root() / flat / "intel-rapl:0/max_energy_range_uj");
  const Opened opened = open_rapl(tree.options());
  Source& package = *opened.sources.at(0);
  EXPECT_THAT(*package.description().formula, HasSubstr("max_energy_range_uj cannot be read"));
  const double before = joules(package, 0);
  tree.show(flat / "intel-rapl:0", 5'000'000);
  EXPECT_TRUE(std::holds_alternative<Gap>(package.read(Seconds(0.1))));
  EXPECT_TRUE(std::holds_alternative<Gap>(package.read(Seconds(0.2))));
  EXPECT_EQ(joules(package, 0.3), before);
}

TEST(Rapl, TheTotalHasTheEnergyOfTheMemoryToTheLastStep) {
  const auto total = [](std::uint64_t microjoules) {  // of the memory, in ten seconds
    MadeUpTree tree;
    one_package(tree);
    const Opened opened = open_rapl(tree.options());
    std::vector<Series> series;
    for (const auto& source : opened.sources) series.push_back({source->description(), {}});
    for (std::uint64_t i = 0; i <= 100; ++i) {
      tree.show(flat / "intel-rapl:0", 1'000'000 + i * 5'000'000);
      tree.show(flat / "intel-rapl:0:0", 300'000 + i * 3'000'000);
      tree.show(flat / "intel-rapl:0:2", 500'000 + i * microjoules / 100);
      for (std::size_t k = 0; k < series.size(); ++k)
        series[k].rows.push_back({k, Seconds(0.1 * i), opened.sources[k]->read(Seconds(0.1 * i))});
    }
    return account(series, {Seconds(0), Seconds(10)}).totals.measured->energy().value;
  };
  EXPECT_NEAR(total(20'000'000), 500 + 20, 1e-6);
  EXPECT_NEAR(total(70'000'000) - total(20'000'000), 50, 1e-6);
}

TEST(Rapl, ThePlatformHoldsPackagesAndTheirMemory) {
  MadeUpTree tree;
  one_package(tree);
  tree.zone(flat / "intel-rapl:1", "psys", 9'000'000);
  const auto found = devices(open_rapl(tree.options()));
  EXPECT_EQ(found.at("platform").part_of, std::nullopt);
  EXPECT_EQ(found.at("package-0").part_of, "platform");
  EXPECT_EQ(found.at("package-0 dram").part_of, "platform");
  EXPECT_EQ(found.at("package-0 core").part_of, "package-0");
}

TEST(Rapl, TheMmioTwinOfAZoneIsASecondSourceOfItsDevice) {
  MadeUpTree tree;
  one_package(tree);
  tree.zone(flat / "intel-rapl-mmio:0", "package-0", 1'000'000);
  tree.zone(flat / "intel-rapl-mmio:0:0", "dram", 500'000);
  const Opened opened = open_rapl(tree.options());
  ASSERT_THAT(opened.sources, SizeIs(6));
  EXPECT_THAT(devices(opened), SizeIs(4));
  EXPECT_EQ(opened.sources[4]->description().device, "package-0");
  EXPECT_THAT(opened.sources[4]->description().covers, HasSubstr("intel-rapl-mmio:0"));
  EXPECT_EQ(opened.sources[5]->description().device, "package-0 dram");
}

TEST(Rapl, MmioAloneCounts) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl-mmio:0", "package-0", 1'000'000);
  const auto found = devices(open_rapl(tree.options()));
  EXPECT_EQ(found.at("package-0").part_of, std::nullopt);
}

TEST(Rapl, DiesThatShowOneCounterCountOnce) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0-die-0", 68'000'000);
  tree.zone(flat / "intel-rapl:1", "package-0-die-1", 68'000'100);
  tree.zone(flat / "intel-rapl:2", "package-1-die-0", 61'000'000);
  tree.zone(flat / "intel-rapl:3", "package-1-die-1", 61'000'200);
  const Opened opened = open_rapl(tree.options());
  ASSERT_THAT(opened.sources, SizeIs(4));
  EXPECT_EQ(opened.sources[1]->description().device, "package-0-die-0");
  EXPECT_THAT(opened.sources[1]->description().covers, HasSubstr("cpu package 0 die 1"));
  EXPECT_EQ(opened.sources[3]->description().device, "package-1-die-0");
  EXPECT_THAT(devices(opened), SizeIs(2));
}

TEST(Rapl, DiesWithCountersOfTheirOwnAllCount) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0-die-0", 68'000'000);
  tree.zone(flat / "intel-rapl:1", "package-0-die-1", 91'000'000);
  EXPECT_THAT(devices(open_rapl(tree.options())), SizeIs(2));
}

TEST(Rapl, EqualPackagesAreNoMirrors) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 68'000'000);
  tree.zone(flat / "intel-rapl:1", "package-1", 68'000'000);
  EXPECT_THAT(devices(open_rapl(tree.options())), SizeIs(2));
}

TEST(Rapl, APackageIsKnownByItsNameNotByTheNumberOfItsZone) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-1", 1'000'000);
  tree.zone(flat / "intel-rapl:0:0", "dram", 1'000'000);
  tree.zone(flat / "intel-rapl:1", "package-0", 2'000'000);
  const Opened opened = open_rapl(tree.options());
  EXPECT_EQ(opened.sources.at(0)->description().device, "package-1");
  EXPECT_EQ(joules(*opened.sources.at(0), 0), 1);
  EXPECT_TRUE(devices(opened).contains("package-1 dram"));
  EXPECT_EQ(opened.sources.at(2)->description().device, "package-0");
}

TEST(Rapl, SixteenPackages) {
  MadeUpTree tree;
  const auto number = [](int i) { return i < 5 ? i : i + 7; };  // with a gap: 4, then 12
  for (int i = 0; i < 16; ++i)
    tree.zone(flat / fmt::format("intel-rapl:{}", number(i)), fmt::format("package-{}", number(i)),
              std::uint64_t(i) * 5'000'000);
  const Opened opened = open_rapl(tree.options());
  ASSERT_THAT(opened.sources, SizeIs(16));
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(opened.sources[i]->description().device, fmt::format("package-{}", number(i)));
    EXPECT_EQ(joules(*opened.sources[i], 0), 5 * i);
  }
}

TEST(Rapl, FindsZonesInTheDeviceTreeAlone) {
  MadeUpTree tree;
  const fs::path deep = "sys/devices/virtual/powercap/intel-rapl";
  tree.zone(deep / "intel-rapl:0", "package-0", 1);
  tree.zone(deep / "intel-rapl:0/intel-rapl:0:0", "dram", 1);
  const auto found = devices(open_rapl(tree.options()));
  EXPECT_THAT(found, SizeIs(2));
  EXPECT_TRUE(found.contains("package-0 dram"));
}

TEST(Rapl, FollowsTheKernelsLinksAndTakesEachZoneOnce) {
  MadeUpTree tree;
  const fs::path deep = "sys/devices/virtual/powercap/intel-rapl";
  tree.zone(deep / "intel-rapl:0", "package-0", 1);
  tree.zone(deep / "intel-rapl:0/intel-rapl:0:0", "dram", 1);
  const fs::path root = tree.root();
  fs::create_directories(root / flat);
  fs::create_directory_symlink(root / deep, root / flat / "intel-rapl");
  fs::create_directory_symlink(root / deep / "intel-rapl:0", root / flat / "intel-rapl:0");
  fs::create_directory_symlink(root / flat, root / deep / "intel-rapl:0/subsystem");
  fs::create_directory_symlink(root / deep, root / deep / "intel-rapl:0/device");
  EXPECT_THAT(devices(open_rapl(tree.options())), SizeIs(2));
  fs::remove_all(root / "sys/devices");
  MadeUpTree links;  // only links to zones, nothing else
  links.zone("elsewhere/intel-rapl:0", "package-0", 1);
  links.zone("elsewhere/intel-rapl:0/intel-rapl:0:0", "dram", 1);
  fs::create_directories(links.root() / flat);
  fs::create_directory_symlink(links.root() / "elsewhere/intel-rapl:0",
                               links.root() / flat / "intel-rapl:0");
  EXPECT_THAT(devices(open_rapl(links.options())), SizeIs(2));
}

TEST(Rapl, NoTreeAnEmptyTreeAndATreeWithoutZonesAreAnAnswer) {
  MadeUpTree none;
  MadeUpTree empty;
  fs::create_directories(empty.root() / flat);
  MadeUpTree control;
  fs::create_directories(control.root() / flat / "intel-rapl");
  for (const MadeUpTree* tree : {&none, &empty, &control}) {
    const Opened opened = open_rapl(tree->options());
    EXPECT_THAT(opened.sources, IsEmpty());
    ASSERT_THAT(opened.unavailable, SizeIs(1));
    EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("has no zone"));
    EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("modprobe"));
  }
}

TEST(Rapl, UnreadableIsSaidWithItsOneLineRemedyAndIsNeverZero) {
  MadeUpTree tree;
  one_package(tree);
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:0:2"})
    ASSERT_EQ(::chmod((tree.root() / flat / zone / "energy_uj").c_str(), 0), 0);
  const Nobody nobody;
  ASSERT_FALSE(nobody.failed());
  const Opened opened = open_rapl(tree.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(4));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("cpu package 0"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("Permission denied"));
  EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("sudo chmod a+r"));
  EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("intel-rapl*/energy_uj"));
}

TEST(Rapl, UnreadableLeavesAModelThatSaysSoAndNoMeasuredEnergy) {
  MadeUpTree tree;
  one_package(tree);
  tree.write("proc/stat", "cpu0 1 0 0 1\n");
  tree.write("proc/meminfo", "MemTotal: 1048576 kB\n");
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:0:2"})
    ASSERT_EQ(::chmod((tree.root() / flat / zone / "energy_uj").c_str(), 0), 0);
  Options options = tree.options();
  options.cores = std::vector{0};
  const Nobody nobody;
  ASSERT_FALSE(nobody.failed());
  const Opened opened = open_sources(options);
  for (const auto& source : opened.sources) {
    const bool energy = source->description().quantity == Quantity::energy;
    EXPECT_EQ(source->description().label, energy ? Label::modelled : Label::measured);
  }
  EXPECT_EQ(devices(opened).count("cores"), 1u);
  EXPECT_FALSE(opened.unavailable.at(0).spare());
  EXPECT_THAT(opened.unavailable[0].remedy, HasSubstr("sudo chmod a+r"));
}

TEST(Rapl, TheRemedyOpensEveryZone) {
  MadeUpTree tree;
  one_package(tree);
  const fs::path pattern = tree.root() / flat / "intel-rapl*" / "energy_uj";
  for (const char* zone : {"intel-rapl:0", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:0:2"})
    ASSERT_EQ(::chmod((tree.root() / flat / zone / "energy_uj").c_str(), 0), 0);
  ASSERT_EQ(std::system(fmt::format("chmod a+r {}", pattern.string()).c_str()), 0);
  const Nobody nobody;
  ASSERT_FALSE(nobody.failed());
  EXPECT_THAT(open_rapl(tree.options()).sources, SizeIs(4));
}

TEST(Rapl, AFileThatCannotBeReadOrIsNoNumberIsSaid) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1);
  fs::remove(tree.root() / flat / "intel-rapl:0/energy_uj");
  fs::create_directory(tree.root() / flat / "intel-rapl:0/energy_uj");
  tree.write(flat / "intel-rapl:1/name", "package-1\n");
  tree.write(flat / "intel-rapl:1/energy_uj", "\n");
  tree.write(flat / "intel-rapl:2/name", "package-2\n");
  const Opened opened = open_rapl(tree.options());
  EXPECT_THAT(opened.sources, IsEmpty());
  ASSERT_THAT(opened.unavailable, SizeIs(3));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("Is a directory"));
  EXPECT_THAT(opened.unavailable[1].reason, HasSubstr("is not a number"));
  EXPECT_THAT(opened.unavailable[2].reason, HasSubstr("No such file"));
}

TEST(Rapl, ACounterThatNeverMovesIsDeadAndNotZero) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  tree.zone(flat / "intel-rapl:1", "psys", 0);
  tree.zone(flat / "intel-rapl:0:0", "core", 0);
  Options options = tree.options();
  options.patience = Seconds(0.5);
  const Running running(tree, {flat / "intel-rapl:0"});
  const Opened opened = open_rapl(options);
  const auto found = devices(opened);
  EXPECT_TRUE(found.contains("package-0"));
  EXPECT_TRUE(found.contains("package-0 core"));  // may rest, and is in no total alone
  EXPECT_FALSE(found.contains("platform"));
  EXPECT_EQ(found.at("package-0").part_of, std::nullopt);
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("psys"));
  EXPECT_THAT(opened.unavailable[0].reason, HasSubstr("dead"));
}

TEST(Rapl, ACoreWithoutItsPackageIsNotTakenForTheProcessor) {
  MadeUpTree tree;
  one_package(tree);
  fs::remove(tree.root() / flat / "intel-rapl:0/energy_uj");
  const Opened opened = open_rapl(tree.options());
  ASSERT_THAT(opened.sources, SizeIs(1));
  EXPECT_EQ(opened.sources[0]->description().device, "package-0 dram");
}

TEST(Rapl, AnUnknownDomainIsNamedAndNotCounted) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1);
  tree.zone(flat / "intel-rapl:0:0", "flux", 1);
  const Opened opened = open_rapl(tree.options());
  EXPECT_THAT(opened.sources, SizeIs(1));
  ASSERT_THAT(opened.unavailable, SizeIs(1));
  EXPECT_THAT(opened.unavailable[0].what, HasSubstr("flux"));
}

TEST(Rapl, AZoneThatGoesAwayLeavesGaps) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  const Opened opened = open_rapl(tree.options());
  joules(*opened.sources[0], 0);
  tree.write(flat / "intel-rapl:0/energy_uj", "");
  const Reading gone = opened.sources[0]->read(Seconds(0.1));
  ASSERT_TRUE(std::holds_alternative<Gap>(gone));
  EXPECT_EQ(std::get<Gap>(gone).cause, Gap::Cause::failed);
}

TEST(Rapl, APowerThatCannotBeIsDropped) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  tree.write(flat / "intel-rapl:0/constraint_0_max_power_uw", "250000000\n");
  const Opened opened = open_rapl(tree.options());
  joules(*opened.sources[0], 0);
  tree.show(flat / "intel-rapl:0", 10'000'000'000);  // 10 kJ in a tenth of a second
  EXPECT_TRUE(std::holds_alternative<Gap>(opened.sources[0]->read(Seconds(0.1))));
  tree.show(flat / "intel-rapl:0", 21'000'000);
  EXPECT_NEAR(joules(*opened.sources[0], 0.2), 21, 1e-9);
}

TEST(Rapl, AReaderThatWasStoppedForLongSaysThatAPassMayBeMissing) {
  MadeUpTree tree;
  tree.zone(flat / "intel-rapl:0", "package-0", 1'000'000);
  tree.write(flat / "intel-rapl:0/constraint_0_max_power_uw", "250000000\n");
  const Opened opened = open_rapl(tree.options());
  joules(*opened.sources[0], 0);
  tree.show(flat / "intel-rapl:0", 60'000'000'000);
  const Reading late = opened.sources[0]->read(Seconds(600));
  ASSERT_TRUE(std::holds_alternative<Gap>(late));
  EXPECT_EQ(std::get<Gap>(late).cause, Gap::Cause::missed_wrap);
  tree.show(flat / "intel-rapl:0", 60'010'000'000);
  EXPECT_NEAR(joules(*opened.sources[0], 600.1), 60'010, 1e-6);  // at least that
}

}  // namespace
}  // namespace parajoule::meter
