// What the page says of studies that lack something: it is made, it names what is missing, and it
// draws no false line.

#include "report/study_page.h"

#include <cmath>
#include <limits>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"
#include "report/html.h"
#include "report/study_csv.h"

namespace parajoule::report {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string head =
    "series,gpus,local_batch_size,global_batch_size,dataset_samples,epochs,energy_kwh,energy_kwh_"
    "std,"
    "device_hours,device_hours_std,repeats,hardware,top1_error_percent,top1_error_percent_std\n";

Page page_of(const std::string& rows) {
  std::istringstream in(head + rows);
  FromCsv read = read_csv(in, "x.csv");
  return study_page({.points = grouped(read.rows), .missing = read.missing});
}

std::string markdown(const Page& page) {
  std::ostringstream out;
  write_markdown(page, out);
  return out.str();
}

const Table* table(const Page& page, std::string_view id) {
  for (const Section& section : page.sections)
    for (const auto& part : section.parts)
      if (const auto* found = std::get_if<Table>(&part); found && found->id == id) return found;
  return nullptr;
}

const Figure* figure(const Page& page, std::string_view id) {
  for (const Section& section : page.sections)
    for (const auto& part : section.parts)
      if (const auto* found = std::get_if<Figure>(&part); found && found->id == id) return found;
  return nullptr;
}

bool has_line(const Figure& figure) {
  return std::ranges::any_of(figure.curves, [](const Curve& curve) { return curve.line; });
}

TEST(StudyPage, OfOneRunIsPreliminaryAndHasNoLine) {
  const Page page = page_of("a,4,256,1024,1000,10,1.0,,2.0,,1,A100,28,\n");
  const std::string text = markdown(page);
  EXPECT_THAT(text, HasSubstr("1 of 1 configurations were run once and are preliminary"));
  EXPECT_THAT(text, HasSubstr("| 1 † |"));
  EXPECT_THAT(text, HasSubstr("No line is drawn"));
  EXPECT_THAT(text, HasSubstr("The model cannot be fitted"));
  EXPECT_FALSE(has_line(*figure(page, "energy-line")));
  EXPECT_FALSE(has_line(*figure(page, "node-model")));
  EXPECT_THAT(table(page, "figures-1")->rows[0][8].spread, "");  // no interval
}

TEST(StudyPage, OfRunsWithoutEnergySupportsNothing) {
  const Page page =
      page_of("a,4,256,1024,1000,10,,,2.0,,5,A100,,\na,8,256,2048,1000,10,,,2.1,,5,,,\n");
  EXPECT_THAT(page.supported.front(), HasSubstr("Nothing"));
  EXPECT_THAT(markdown(page), HasSubstr("x.csv line 2: no kWh of energy"));
  EXPECT_FALSE(has_line(*figure(page, "energy-line")));
}

TEST(StudyPage, OfBrokenNumbersIsMadeAndNamesThem) {
  const Page page = page_of(
      "a,4,256,1024,1000,10,nan,,0,,5,A100,nan,\n"
      "a,8,0,2048,0,0,1e400,,-1,,0,,inf,\n"
      ",,,,,,,,,,,,,\n");
  const std::string text = markdown(page);
  EXPECT_THAT(text, HasSubstr("energy\\_kwh 'nan' is no number"));
  EXPECT_THAT(text, HasSubstr("0 device hours"));
  EXPECT_THAT(text, Not(HasSubstr("inf kW")));
  EXPECT_EQ(table(page, "coverage"), nullptr);
}

TEST(StudyPage, OfEqualDeviceHoursDrawsNoLine) {
  const Page page = page_of(
      "a,4,256,1024,1000,10,1.0,,2.0,,1,,,\na,4,128,512,1000,10,1.1,,2.0,,1,,,\n"
      "a,4,64,256,1000,10,1.2,,2.0,,1,,,\n");
  EXPECT_FALSE(has_line(*figure(page, "energy-line")));
  EXPECT_THAT(markdown(page), HasSubstr("No line is drawn"));
}

TEST(StudyPage, FindsThePlantedNodeModel) {
  std::string rows;
  for (const int devices : {1, 2, 4, 8, 16}) {
    const double nodes = std::ceil(devices / 4.0), hours = 0.5 * devices;
    rows += "a," + std::to_string(devices) + ",256,256,1000,10," +
            std::to_string(hours * (0.2 + 0.24 * nodes / devices)) + ",0.001," +
            std::to_string(hours) + ",0.001,5,A100,,\n";
  }
  const Page page = page_of(rows);
  const Table& found = *table(page, "node-model");
  EXPECT_NEAR(std::stod(found.rows[0][3].text), 0.2, 1e-5);
  EXPECT_NEAR(std::stod(found.rows[0][4].text), 0.24, 1e-5);
}

TEST(StudyPage, ComparesHardwareAndKnowsWhenItCannot) {
  const std::string a = "a,4,256,1024,1000,10,10.0,0.1,2.0,0.01,5,A100,,\n";
  const Page different = page_of(a + "b,4,256,1024,1000,10,9.0,0.1,1.5,0.01,5,H100,,\n");
  const Table& rows = *table(different, "hardware");
  ASSERT_EQ(rows.rows.size(), 3u);
  EXPECT_EQ(rows.rows[2].back().text, "different");
  EXPECT_EQ(rows.rows[2][5].text, "-10.00");
  const Page alike = page_of(a + "b,4,256,1024,1000,10,9.95,0.1,1.5,0.01,5,H100,,\n");
  EXPECT_EQ(table(alike, "hardware")->rows[2].back().text, "not distinguishable");
  const Page once = page_of(a + "b,4,256,1024,1000,10,9.0,,1.5,,1,H100,,\n");
  EXPECT_EQ(table(once, "hardware")->rows[2].back().text, "no repeats: no test †");
}

TEST(StudyPage, FindsTheBatchFromWhichQualityDegrades) {
  const Page page = page_of(
      "a,1,256,256,1000,10,1,.1,1,.1,5,A100,28.0,0.2\n"
      "a,2,256,512,1000,10,1,.1,1,.1,5,A100,28.1,0.2\n"
      "a,4,256,1024,1000,10,1,.1,1,.1,5,A100,31.5,0.2\n");
  EXPECT_THAT(markdown(page), HasSubstr("quality degrades from a global batch of 1024 on"));
}

TEST(StudyPage, NamesTheRunsThatNoOtherBeats) {
  const Page page = page_of(
      "a,1,256,256,1000,10,1.0,,4,,1,,,\na,2,256,512,1000,10,1.5,,4,,1,,,\n"
      "a,4,256,1024,1000,10,1.6,,16,,1,,,\na,8,256,2048,2000,10,9,,9,,1,,,\n");
  const Table& cost = *table(page, "cost");
  EXPECT_EQ(cost.rows[0].back().text, "on the front");
  EXPECT_EQ(cost.rows[1].back().text, "on the front");
  EXPECT_EQ(cost.rows[2].back().text, "beaten by 1 × 256");  // four hours, as the first, for more
  EXPECT_EQ(cost.rows[3].back().text, "alone");
}

TEST(StudyPage, ASeriesOfOtherPowerNeedsALineOfItsOwn) {
  base::Stream chance{4};
  std::string rows;
  for (const double power : {0.2, 0.3})
    for (const double hours : {1, 2, 4, 8, 16})
      rows += (power < 0.25 ? "a," : "b,") + std::to_string(int(hours)) + ",256,256,1000,10," +
              std::to_string(power * hours + 0.01 * chance.normal()) + ",.01," +
              std::to_string(hours) + ",.01,5,A100,,\n";
  EXPECT_THAT(markdown(page_of(rows)), HasSubstr("one line for all is not enough"));
}

TEST(StudyPage, NamesOutOfAFileCannotSteerTheBrowser) {
  std::ostringstream out;
  write_html(page_of("<script>alert(1)</script>,4,256,1024,1000,10,1.0,,2.0,,1,\"\"\">\",,\n"),
             out);
  EXPECT_THAT(out.str(), Not(HasSubstr("<script")));
  EXPECT_THAT(out.str(), HasSubstr("&lt;script&gt;"));
}

TEST(StudyPage, EveryLinkLeadsSomewhere) {
  std::ostringstream out;
  write_html(page_of("a b,4,256,1024,1000,10,1.0,,2.0,,1,A100,,\n"), out);
  const std::string html = out.str();
  int links = 0;
  for (std::size_t at = html.find("href=\"#"); at != std::string::npos;
       at = html.find("href=\"#", at + 1), ++links) {
    const std::size_t from = at + 7, to = html.find('"', from);
    const std::string id = "id=\"" + html.substr(from, to - from) + '"';
    EXPECT_THAT(html, HasSubstr(id));
  }
  EXPECT_GT(links, 10);
}

TEST(StudyPage, LoadsNothingFromElsewhere) {
  std::ostringstream out;
  write_html(page_of("a,4,256,1024,1000,10,1.0,,2.0,,1,A100,,\n"), out);
  for (const char* loads : {"src=", "http:", "https:", "@import", "url("})
    EXPECT_THAT(out.str(), Not(HasSubstr(loads)));
}

}  // namespace
}  // namespace parajoule::report
