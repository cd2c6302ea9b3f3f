// What `parajoule measure` tells of a command, in every way it does.

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/energy_unit.h"
#include "cli/measure_json.h"
#include "cli/measure_options.h"
#include "cli/measure_output.h"
#include "cli/measure_parts.h"
#include "cli/measure_text.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Joules;
using base::Seconds;
using meter::Label;
using testing::HasSubstr;
using testing::Not;

meter::SourceAccount source(const std::string& device, Label label, std::optional<double> joules) {
  meter::SourceAccount account;
  account.description = {.device = device,
                         .device_kind = "cpu",
                         .quantity = meter::Quantity::energy,
                         .unit = "joules",
                         .label = label,
                         .covers = "all of " + device,
                         .bias_relative = 0.1};
  if (label == Label::modelled) account.description.formula = "P = 1 W";
  if (joules) {
    account.energy = Joules{*joules};
    account.uncertainty = {Joules{1}, Joules{*joules * 0.1}};
    account.covered = Seconds(10);
  } else {
    account.remarks = {"the counter stood still"};
  }
  return account;
}

measure::Account account_with(std::vector<meter::SourceAccount> sources) {
  measure::Account account{.run = {.id = "abcdefgh",
                                   .name = "a, \"b\"\n€",
                                   .kind = store::Kind::measure,
                                   .state = store::State::done,
                                   .started_utc = "2025-11-30T10:11:12.123Z",
                                   .version = "0.1.0",
                                   .command = "train '\xff\n'"},
                           .standing = store::Standing::done,
                           .nodes = {}};
  const meter::Span span{Seconds(0), Seconds(10)};
  account.wall = span.length();
  account.status = 0;
  account.nodes.push_back(
      {.node = store::Example().node, .command = meter::total(std::move(sources), span)});
  account.totals = account.nodes[0].command.totals;
  return account;
}

std::string text_of(const measure::Account& account, std::size_t columns = 100,
                    Conversions conversions = {}) {
  return measure_text(account, {conversions, "", Look::plain, columns, Detail::full});
}

measure::Account mixed() {
  return account_with({source("package-0", Label::measured, 1234),
                       source("memory", Label::modelled, 321),
                       source("psys", Label::measured, std::nullopt)});
}

TEST(MeasureText, HasNoSumOfDifferentLabels) {
  const std::string text = text_of(mixed());
  EXPECT_THAT(text, HasSubstr("1234"));
  EXPECT_THAT(text, HasSubstr("321"));
  EXPECT_THAT(text, Not(HasSubstr("1555")));
}

TEST(MeasureText, ADeadSensorIsNamedAndIsNotZeroJoules) {
  const std::string text = text_of(mixed());
  EXPECT_THAT(text, HasSubstr("no number"));
  EXPECT_THAT(text, HasSubstr("the counter stood still"));
  EXPECT_THAT(text, testing::ContainsRegex("not metered +psys"));
  EXPECT_THAT(text, Not(testing::ContainsRegex(" 0(\\.0+)? (J|Wh|kWh|W)\n?")));
}

TEST(MeasureText, WhereNothingIsMeteredItSaysNone) {
  const std::string text = text_of(account_with({}));
  EXPECT_THAT(text, testing::ContainsRegex("measured +none"));
  EXPECT_THAT(text, testing::ContainsRegex("modelled +none"));
}

TEST(MeasureText, FitsItsTerminal) {
  measure::Account account = mixed();
  account.above = account.totals;
  account.nodes[0].above = account.nodes[0].command;
  account.regions = {{.name = "a region with a name longer than some terminals",
                      .node = 0,
                      .entered = 12345,
                      .time = Seconds(3),
                      .energies = {{.device = "package-0",
                                    .label = Label::measured,
                                    .energy = Joules{1000},
                                    .uncertainty = {Joules{100}, Joules{1}},
                                    .counts = true}}}};
  for (const std::size_t columns : {50, 60, 80, 100}) {
    const std::string text = text_of(account, columns);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), columns) << line;
    EXPECT_THAT(text, HasSubstr("above idle"));
    EXPECT_THAT(text, HasSubstr("1000 ± 101 J"));
  }
}

TEST(MeasureText, ConvertsOnLinesOfTheirOwnAndByLabel) {
  const Conversions conversions{.pue = 2, .carbon = 3600, .price = 36};
  const std::string plain = text_of(mixed());
  const std::string text = text_of(mixed(), 100, conversions);
  // 1234 J are 342.8 microjoules of a megawatt hour, or 3.428e-4 kWh; with PUE 2 twice as much.
  EXPECT_THAT(text, HasSubstr("with PUE 2: measured 0.0006856"));
  EXPECT_THAT(text, HasSubstr("CO2 at 3600 g a kWh and PUE 2: measured 2.468"));
  EXPECT_THAT(text, HasSubstr("cost at 36 a kWh and PUE 2: measured 0.02468"));
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) EXPECT_THAT(text, HasSubstr(line));
}

TEST(MeasureText, DefinesUncertaintyOnce) {
  const std::string text = text_of(mixed());
  EXPECT_EQ(text.find("95 %"), text.rfind("95 %"));
  EXPECT_NE(text.find("95 %"), text.npos);
}

TEST(MeasureJson, SaysWhichNumbersMakeASum) {
  measure::Account account = account_with(
      {source("package-0", Label::measured, 1234), source("package-1", Label::measured, 500),
       source("psys", Label::measured, {}), source("memory", Label::modelled, 321)});
  const auto all = nlohmann::json::parse(measure_json(account, {}, "/r.db"));
  std::map<std::string, double> sums;
  for (const auto& device : all.at("devices"))
    if (device.at("counted")) sums[device.at("label")] += device.at("energy_joules").get<double>();
  EXPECT_EQ(sums.at("measured"), all.at("totals").at("measured").at("energy_joules"));
  EXPECT_EQ(sums.at("modelled"), all.at("totals").at("modelled").at("energy_joules"));
  EXPECT_EQ(sums.at("measured"), 1734);
}

TEST(MeasureJson, HasWhatEnergiesAreConvertedToAsNumbersByLabel) {
  const Conversions given{.pue = 2, .carbon = 3600};
  const auto all = nlohmann::json::parse(measure_json(mixed(), given, "/r.db")).at("conversions");
  EXPECT_EQ(all.at("pue"), 2);
  EXPECT_EQ(all.at("price_per_kilowatt_hour"), nullptr);
  ASSERT_EQ(all.at("amounts").size(), 4u);
  const auto& carbon = all.at("amounts")[2];
  EXPECT_EQ(carbon.at("what"), "carbon");
  EXPECT_EQ(carbon.at("unit"), "g");
  EXPECT_EQ(carbon.at("label"), "measured");
  EXPECT_NEAR(carbon.at("value").get<double>(), 1234 / 3.6e6 * 2 * 3600, 1e-12);
  EXPECT_NEAR(carbon.at("half_width").get<double>(), std::hypot(1, 123.4) / 3.6e6 * 7200, 0.002);
  EXPECT_EQ(all.at("amounts")[3].at("label"), "modelled");
}

TEST(Conversions, AreKeptInTheRecord) {
  measure::Account account = mixed();
  const Conversions given{.pue = 1.25, .price = 0.3};
  account.settings = settings_of(given);
  const Conversions found = conversions_in(account);
  EXPECT_EQ(found.pue, given.pue);
  EXPECT_EQ(found.carbon, std::nullopt);
  EXPECT_EQ(found.price, given.price);
}

TEST(EnergyUnit, GoesWithTheSize) {
  EXPECT_EQ(unit_for(Joules{9000}).text(Joules{9000}), "9000 J");
  EXPECT_EQ(unit_for(Joules{36'000}).text(Joules{36'000}), "10.00 Wh");
  EXPECT_EQ(unit_for(Joules{3.6e7}).text(Joules{3.6e7}), "10.00 kWh");
}

TEST(EnergyUnit, ShowsNoDigitsBelowAnUncertaintyThatSwallowsThem) {
  const EnergyUnit unit = unit_for(Joules{1});
  EXPECT_EQ(unit.text(Joules{0.00054}, {Joules{20.905}, Joules{0}}), "0.0 ± 21.0 J");
  EXPECT_EQ(unit.text(Joules{-3.21}, {Joules{4.01}, Joules{0}}), "-3.21 ± 4.01 J");
  EXPECT_EQ(unit.text(Joules{15.59}, {Joules{9.231}, Joules{0}}), "15.59 ± 9.24 J");
}

TEST(MeasureOptions, TakeRatesAndTimes) {
  EXPECT_EQ(rate_in("10"), 10);
  EXPECT_EQ(rate_in("2.5 Hz"), 2.5);
  EXPECT_EQ(rate_in("1000hz"), 1000);
  for (const char* bad : {"", "0", "-1", "1001", "10s", "hz", "nan", "1khz"})
    EXPECT_THROW(rate_in(bad), base::Error) << bad;
  EXPECT_EQ(duration_in("10"), Seconds(10));
  EXPECT_EQ(duration_in("500ms"), Seconds(0.5));
  EXPECT_EQ(duration_in("2min"), Seconds(120));
  for (const char* bad : {"", "-1", "1h", "s", "nan", "100000"})
    EXPECT_THROW(duration_in(bad), base::Error) << bad;
}

TEST(MeasureOptions, KeepACommandAsAShellWouldTakeIt) {
  EXPECT_EQ(as_typed({"python", "a b.py", "", "it's", "x=1", "\xff"}),
            "python 'a b.py' '' 'it'\\''s' x=1 '\xff'");
}

/// The rows of a CSV by RFC 4180, read by a reader of our own.
std::vector<std::vector<std::string>> parsed(const std::string& text) {
  std::vector<std::vector<std::string>> rows = {{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      if (quoted && i + 1 < text.size() && text[i + 1] == '"')
        rows.back().back() += text[++i];
      else
        quoted = !quoted;
    } else if (text[i] == ',' && !quoted) {
      rows.back().emplace_back();
    } else if (text[i] == '\n' && !quoted) {
      rows.push_back({""});
    } else {
      rows.back().back() += text[i];
    }
  }
  rows.pop_back();
  return rows;
}

TEST(MeasureCsv, TwoProcessesAddWholeRows) {
  constexpr int times = 1000;
  const store::TemporaryFolder folder;
  const std::string file = folder.path() / "all.csv";
  const measure::Account account = mixed();
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    for (int i = 0; i < times; ++i) append_rows(file, account);
    _exit(0);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const auto rows = parsed(text.str());
  ASSERT_EQ(rows.size(), 1U + 2 * times * 3);
  EXPECT_EQ(rows[0][0], "id");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    ASSERT_EQ(rows[i].size(), rows[0].size()) << i;
    EXPECT_EQ(rows[i], rows[1 + (i - 1) % 3]);
  }
  EXPECT_EQ(rows[1][2], "a, \"b\"\n€");
}

TEST(MeasureCsv, AFileThatTakesNothingIsNamed) {
  EXPECT_THROW(append_rows("/dev/full", mixed()), base::Error);
}

}  // namespace
}  // namespace parajoule::cli
