#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/sensors_text.h"
#include "meter/families.h"
#include "meter/made_up_tree.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using meter::MadeUpTree;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path powercap = "sys/class/powercap";

/// A machine with one package and, of the kernel's files that the model needs, all.
void one_package(const MadeUpTree& tree) {
  tree.zone(powercap / "intel-rapl:0", "package-0", 1'000'000);
  tree.write("proc/stat", "cpu0 100 0 100 800 0 0 0 0 0 0\n");
  tree.write("proc/meminfo", "MemTotal:       16777216 kB\n");
  tree.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Made up\n");
}

meter::Options options_of(const MadeUpTree& tree) {
  meter::Options options = tree.options();
  options.cores = std::vector<int>{0};
  options.visible_devices = std::vector<std::string>();
  return options;
}

/// Time that passes only while somebody waits: `at_step` is told of it.
meter::Pace made_up_pace(
    double& seconds, std::function<void()> at_step = [] {}) {
  return {.now = [&seconds] { return Seconds(seconds += 1e-6); },
          .pause =
              [&seconds, at_step](Seconds time) {
                seconds += std::max(time.count(), 1e-6);
                at_step();
              }};
}

/// The counter of the package.
const SensedSource& package_in(const Sensed& sensed) {
  for (const SensedFamily& family : sensed.families)
    for (const SensedSource& source : family.sources)
      if (source.description.device == "package-0") return source;
  throw std::runtime_error("no such source");
}

/// What `parajoule sensors` finds where the package's counter goes on at every step.
Sensed of_running_package(const MadeUpTree& tree) {
  double seconds = 0;
  std::uint64_t count = 1'000'000;
  return sensed(options_of(tree), Seconds(0.5), made_up_pace(seconds, [&] {
                  tree.show(powercap / "intel-rapl:0", count += 1000);
                }));
}

std::size_t widest(const std::string& text) {
  std::istringstream lines(text);
  std::size_t columns = 0;
  for (std::string line; std::getline(lines, line);) columns = std::max(columns, columns_of(line));
  return columns;
}

TEST(Sensed, EveryFamilyIsThereWithWhatItHasAndTheModelIsLast) {
  MadeUpTree tree;
  one_package(tree);
  const Sensed found = of_running_package(tree);
  ASSERT_EQ(found.families.size(), meter::families().size() + 1);
  for (std::size_t i = 0; i < meter::families().size(); ++i)
    EXPECT_EQ(found.families[i].name, meter::families()[i].name);
  EXPECT_EQ(found.families.back().name, "model");
  EXPECT_EQ(package_in(found).state, SensedSource::State::works);
  EXPECT_TRUE(package_in(found).observed.update);
  EXPECT_THAT(found.unmetered, testing::Contains("mainboard"));
}

TEST(Sensed, ACounterThatStandsStillIsDeadAndSaysForHowLong) {
  MadeUpTree tree;
  one_package(tree);
  double seconds = 0;
  const Sensed found = sensed(options_of(tree), Seconds(0.5), made_up_pace(seconds));
  const SensedSource& package = package_in(found);
  EXPECT_EQ(package.state, SensedSource::State::dead);
  EXPECT_EQ(package.reason, "stood still for 0.5 s");
}

TEST(Sensed, ACounterThatVanishesFailsWithTheSystemsWords) {
  MadeUpTree tree;
  one_package(tree);
  double seconds = 0;
  bool first = true;
  const auto pace = meter::Pace{.now =
                                    [&] {
                                      if (first)
                                        tree.write(powercap / "intel-rapl:0/energy_uj", "");
                                      first = false;
                                      return Seconds(seconds += 1e-6);
                                    },
                                .pause = [&](Seconds time) { seconds += time.count() + 1e-6; }};
  const Sensed found = sensed(options_of(tree), Seconds(0.5), pace);
  const SensedSource& package = package_in(found);
  EXPECT_EQ(package.state, SensedSource::State::fails);
  EXPECT_THAT(package.reason, HasSubstr("energy_uj"));
  EXPECT_THAT(sensors_text(found, 100, Look::plain), HasSubstr(package.reason));
}

TEST(Sensors, TheTableFitsAndSaysWhatEachCoversAndTheWayToTheRest) {
  MadeUpTree tree;
  one_package(tree);
  const Sensed found = of_running_package(tree);
  const std::string wide = sensors_text(found, 100, Look::plain);
  EXPECT_LE(widest(wide), 100u);
  EXPECT_THAT(wide, HasSubstr("works       package-0"));
  EXPECT_THAT(wide, HasSubstr("cpu package 0, RAPL powercap (intel-rapl:0)\n"));
  EXPECT_THAT(wide, HasSubstr("; never seen on real hardware\n"));
  EXPECT_THAT(wide, HasSubstr("absent      NVIDIA GPUs"));
  EXPECT_THAT(wide, HasSubstr("→ if there is one, install its driver"));
  EXPECT_THAT(wide, HasSubstr("not metered by anything here"));
  const std::string narrow = sensors_text(found, 60, Look::plain);
  EXPECT_LE(widest(narrow), 60u);
  EXPECT_THAT(narrow, HasSubstr("step 61 µJ, new every 1 ms, seen"));
}

TEST(Sensors, WithoutAnyLiveMeterThatIsSaid) {
  MadeUpTree tree;
  one_package(tree);
  const std::string running = sensors_text(of_running_package(tree), 100, Look::plain);
  EXPECT_THAT(running, Not(HasSubstr("Nothing here measures")));
  double seconds = 0;
  const Sensed dead = sensed(options_of(tree), Seconds(0.5), made_up_pace(seconds));
  EXPECT_THAT(sensors_text(dead, 100, Look::plain), HasSubstr("Nothing here measures energy"));
}

TEST(Sensors, NumbersBesideTheEnergyAreNamedAndShownOnRequest) {
  MadeUpTree tree;
  tree.write("proc/stat", "cpu0 100 0 100 800 0 0 0 0 0 0\n");
  tree.write("proc/meminfo", "MemTotal:       16777216 kB\n");
  double seconds = 0;
  const Sensed found = sensed(options_of(tree), Seconds(0.5), made_up_pace(seconds));
  EXPECT_THAT(sensors_text(found, 100, Look::plain), HasSubstr("also        cores: utilisation\n"));
  EXPECT_THAT(sensors_text(found, 100, Look::plain, true),
              testing::ContainsRegex("cores +utilisation +measured"));
}

TEST(Sensors, JsonHasAVersionAndEveryNumberAsANumber) {
  MadeUpTree tree;
  one_package(tree);
  const auto json = nlohmann::json::parse(sensors_json(of_running_package(tree)));
  EXPECT_EQ(json.at("format"), "parajoule sensors");
  EXPECT_EQ(json.at("version"), 1);
  const auto& rapl = json.at("families").at(0);
  EXPECT_EQ(rapl.at("name"), meter::families().front().name);
  EXPECT_EQ(rapl.at("seen_on_real_hardware"), meter::families().front().met_devices);
  const auto& package = rapl.at("sources").at(0);
  EXPECT_EQ(package.at("state"), "works");
  EXPECT_EQ(package.at("unit"), "joules");
  EXPECT_NEAR(package.at("update_period_seconds").get<double>(), 0.001, 1e-12);
  EXPECT_GT(package.at("seen_update_seconds").get<double>(), 0);
  EXPECT_TRUE(package.at("part_of").is_null());
  EXPECT_GT(package.at("reads").get<int>(), 2);
}

TEST(Sensors, WordsOfADeviceCannotSteerTheTerminal) {
  Sensed found;
  found.families.push_back({.name = "made up",
                            .reads = "nothing",
                            .met_devices = true,
                            .sources = {},
                            .unavailable = {{"GPU \x1b[2J\xff", "no\nanswer", "none",
                                             meter::Unavailable::State::unreadable}}});
  const std::string text = sensors_text(found, 60, Look::plain);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("no\uFFFDanswer"));
  EXPECT_TRUE(nlohmann::json::accept(sensors_json(found)));
}

TEST(Sensors, FamiliesThatFoundNothingStandTogether) {
  Sensed found;
  for (const char* name : {"one", "another"})
    found.families.push_back({.name = name,
                              .reads = "/dev/null",
                              .met_devices = false,
                              .sources = {},
                              .unavailable = {}});
  EXPECT_THAT(sensors_text(found, 100, Look::plain),
              HasSubstr("            one (/dev/null), another (/dev/null)\n"));
}

TEST(Sensors, NumbersHaveThePrefixThatFits) {
  EXPECT_EQ(scaled(6.1e-5, "J"), "61 µJ");
  EXPECT_EQ(scaled(0.001, "s"), "1 ms");
  EXPECT_EQ(scaled(0.0012, "s"), "1.2 ms");
  EXPECT_EQ(scaled(0.1, "s"), "100 ms");
  EXPECT_EQ(scaled(1, "W"), "1 W");
  EXPECT_EQ(scaled(60, "s"), "60 s");
  EXPECT_EQ(scaled(3600, "s"), "3600 s");
  EXPECT_EQ(scaled(1.5e9, "Hz"), "1.5 GHz");
  EXPECT_EQ(scaled(0, "J"), "0 J");
}

}  // namespace
}  // namespace parajoule::cli
