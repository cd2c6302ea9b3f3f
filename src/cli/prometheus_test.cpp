#include "cli/prometheus.h"

#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/made_up_source.h"

namespace parajoule::cli {
namespace {

using base::Joules;
using base::Watts;
using meter::described;
using meter::Label;
using meter::Quantity;
using testing::HasSubstr;
using testing::Not;

std::vector<Exposed> three_devices() {
  std::vector<Exposed> all = {
      {.description = described("package-0", Quantity::energy),
       .node = "n1",
       .energy = Joules{1234.5},
       .power = Watts{80}},
      {.description = described("package-0 core", Quantity::energy),
       .node = "n1",
       .energy = Joules{1000}},
      {.description = described("memory", Quantity::energy, Label::modelled),
       .node = "n1",
       .energy = Joules{7}}};
  all[1].description.part_of = "package-0";
  return all;
}

TEST(Prometheus, ACounterInJoulesForEachDeviceAndLabel) {
  const std::string text = prometheus_text(three_devices());
  EXPECT_THAT(text, HasSubstr("# TYPE parajoule_energy_joules_total counter\n"));
  EXPECT_THAT(text, HasSubstr("parajoule_energy_joules_total{node=\"n1\",device=\"package-0\",kind="
                              "\"cpu\",label=\"measured\",from=\"energy\",part_of=\"\"} 1234.5\n"));
  EXPECT_THAT(text, HasSubstr("label=\"modelled\",from=\"energy\",part_of=\"\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("part_of=\"package-0\"} 1000\n"));
  EXPECT_THAT(text, HasSubstr("parajoule_power_watts{node=\"n1\",device=\"package-0\""));
}

TEST(Prometheus, HasNoSumOverLabels) {
  const std::string text = prometheus_text(three_devices());
  for (const char* sum : {"2241.5", "1241.5", "2234.5", "total\"", "all\""})
    EXPECT_THAT(text, Not(HasSubstr(sum)));
}

TEST(Prometheus, NamesOtherNumbersByTheirUnits) {
  std::vector<Exposed> all;
  const std::tuple<Quantity, const char*, double> numbers[] = {
      {Quantity::clock, "hertz", 1.41e9},
      {Quantity::clock, "reasons", 4},
      {Quantity::utilisation, "fraction", 0.5},
      {Quantity::utilisation, "processes", 3}};
  for (const auto& [quantity, unit, value] : numbers) {
    all.push_back({.description = described("GPU 0", quantity), .node = "n1", .value = value});
    all.back().description.unit = unit;
  }
  const std::string text = prometheus_text(all);
  const auto line = [&](const std::string& name, const std::string& value) {
    return testing::ContainsRegex(name + "\\{[^\n]*\\} " + value + "\n");
  };
  EXPECT_THAT(text, line("parajoule_clock_hertz", "1410000000"));
  EXPECT_THAT(text, line("parajoule_clock_reasons", "4"));
  EXPECT_THAT(text, line("parajoule_utilisation_ratio", "0.5"));
  EXPECT_THAT(text, line("parajoule_processes", "3"));
  EXPECT_THAT(text, Not(line("parajoule_clock_hertz", "4")));
}

TEST(Prometheus, WhatHasNoNumberHasNoLine) {
  const std::vector<Exposed> dead = {
      {.description = described("GPU 0", Quantity::energy), .node = "n1", .failed = true}};
  const std::string text = prometheus_text(dead);
  EXPECT_THAT(text, Not(HasSubstr("joules_total")));
  EXPECT_THAT(text, HasSubstr("parajoule_reading_failed{node=\"n1\",device=\"GPU 0\""));
  EXPECT_EQ(prometheus_text({}), "");
}

/// The grammar of the text format, of each line.
void expect_valid(const std::string& text) {
  const std::regex sample(R"re([a-z_]+\{([a-z_]+="([^"\\]|\\\\|\\"|\\n)*",?)*\} [-+0-9.e]+)re");
  const std::regex comment("# (HELP|TYPE) [a-z_]+ .+");
  std::istringstream lines(text);
  std::set<std::string> series;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_match(line, line[0] == '#' ? comment : sample)) << line;
    if (line[0] == '#') continue;
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
}

TEST(Prometheus, IsValidWhateverDevicesAreCalledAndWithTwoOfOneName) {
  std::vector<Exposed> all = three_devices();
  all.push_back(all[0]);
  all.push_back(all[0]);
  all.back().description.quantity = Quantity::power;
  all.push_back({.description = described("a,\"b\"\\\n\xff€", Quantity::energy),
                 .node = "n\n",
                 .energy = Joules{1e-9}});
  all.push_back(
      {.description = described("GPU 0", Quantity::temperature), .node = "n1", .value = 61.0});
  all.back().description.unit = "celsius";
  const std::string text = prometheus_text(all);
  expect_valid(text);
  EXPECT_THAT(text, HasSubstr("from=\"energy 2\""));
  EXPECT_THAT(text, HasSubstr("from=\"power\""));
  EXPECT_THAT(text, HasSubstr("a,\\\"b\\\"\\\\\\n\uFFFD€"));
  EXPECT_THAT(text, HasSubstr("parajoule_temperature_celsius{"));
}

TEST(Prometheus, OfACommandEachNodesSourcesAndNoTotals) {
  measure::Account account;
  for (const char* host : {"n1", "n2"})
    account.nodes.push_back(
        {.node = {.node = 0, .boot_id = host, .host = host, .cpus = 1, .memory_bytes = 1},
         .command = {}});
  account.nodes[0].command.sources = {
      {.description = described("package-0", Quantity::energy), .energy = Joules{100}},
      {.description = described("GPU 0", Quantity::energy)}};
  account.nodes[1].command.sources = {{.description = described("package-0", Quantity::energy),
                                       .energy = Joules{50},
                                       .mean_power = Watts{5}}};
  const std::string text = prometheus_text(exposed_of(account));
  expect_valid(text);
  EXPECT_THAT(text, HasSubstr("{node=\"n1\",device=\"package-0\""));
  EXPECT_THAT(text, HasSubstr("part_of=\"\"} 50\n"));
  EXPECT_THAT(text, HasSubstr("part_of=\"\"} 5\n"));
  EXPECT_THAT(text, Not(HasSubstr("GPU 0")));
  EXPECT_THAT(text, Not(HasSubstr("150")));
  EXPECT_THAT(text, Not(HasSubstr("reading_failed")));
}

TEST(Prometheus, WhatIsNoNumberHasNoLine) {
  std::vector<Exposed> all = three_devices();
  all.resize(1);
  all[0].energy = Joules{std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(prometheus_text(all), Not(HasSubstr("joules_total")));
}

}  // namespace
}  // namespace parajoule::cli
