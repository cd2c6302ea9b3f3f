// The page of the published runs against what the paper's authors derived from their unrounded
// numbers: each column within what the rounding of the inputs and of the printed value allows.

#include <cmath>
#include <string>

#include <gtest/gtest.h>

#include "report/derived.h"
#include "report/point.h"
#include "report/regression.h"
#include "report/study_csv.h"
#include "report/study_page.h"

namespace parajoule::report {
namespace {

/// wall minutes, kWh per device hour, 10^6 samples per device hour, samples/s a device, passes per
/// device hour, Wh per 1000 samples.
struct Row {
  const char* series;
  int devices;
  double figures[6];
};
const Row published[] = {
    {"sgpu_5004_lbs_256", 1, {24.65, 0.4427, 1.2180, 338.3, 4758, 0.3635}},
    {"sgpu_5004_lbs_256", 2, {24.33, 0.3292, 1.2343, 342.9, 4822, 0.2667}},
    {"sgpu_5004_lbs_256", 4, {25.76, 0.2682, 1.1656, 323.8, 4553, 0.2301}},
    {"sgpu_5004_lbs_256", 8, {26.11, 0.2696, 1.1498, 319.4, 4491, 0.2345}},
    {"sgpu_5004_lbs_256", 16, {26.34, 0.2673, 1.1399, 316.6, 4453, 0.2345}},
    {"sgpu_5004_lbs_256", 32, {26.79, 0.2664, 1.1209, 311.4, 4378, 0.2377}},
    {"sgpu_5004_lbs_256", 64, {26.47, 0.2663, 1.1343, 315.1, 4431, 0.2348}},
    {"sgpu_5004_lbs_256", 128, {27.30, 0.2621, 1.1000, 305.6, 4297, 0.2382}},
    {"sgpu_5004_lbs_256", 256, {26.60, 0.2662, 1.1289, 313.6, 4410, 0.2358}},
    {"sgpu_5004_gbs_8192", 32, {26.79, 0.2664, 1.1209, 311.4, 4378, 0.2377}},
    {"sgpu_5004_gbs_8192", 64, {25.49, 0.2771, 1.1779, 327.2, 9203, 0.2352}},
    {"sgpu_5004_gbs_8192", 128, {25.44, 0.2856, 1.1803, 327.9, 18443, 0.2419}},
    {"sgpu_5004_gbs_8192", 256, {26.71, 0.2918, 1.1241, 312.2, 35127, 0.2596}},
    {"sgpu_80072_gbs_256", 1, {308.3, 0.4826, 1.5581, 432.8, 6086, 0.3097}},
    {"sgpu_80072_gbs_256", 2, {307.6, 0.3803, 1.5620, 433.9, 12203, 0.2435}},
    {"sgpu_80072_gbs_256", 4, {329.1, 0.3161, 1.4600, 405.6, 22813, 0.2165}},
    {"sgpu_80072_gbs_256", 8, {359.6, 0.3131, 1.3362, 371.2, 41757, 0.2343}},
    {"sgpu_80072_gbs_256", 16, {426.2, 0.2928, 1.1272, 313.1, 70447, 0.2597}},
};
/// Half of the last printed digit above; wall times have one or two behind the point.
double printed(std::size_t column, double value) {
  const double halves[] = {value < 100 ? 0.005 : 0.05, 5e-5, 5e-5, 0.05, 0.5, 5e-5};
  return halves[column];
}

std::vector<Point> points() {
  return grouped(
      read_csv(std::filesystem::path(PARAJOULE_SOURCE "/published/resnet50_a100_runs.csv")).rows);
}

TEST(Published, EveryDerivedColumnIsThatOfTheAuthorsWithinTheRounding) {
  const auto all = points();
  ASSERT_EQ(all.size(), std::size(published));
  const auto columns = {wall_minutes,
                        energy_per_device_hour,
                        millions_of_samples_per_device_hour,
                        samples_per_second_and_device,
                        passes_per_device_hour,
                        wh_per_1000_samples};
  for (std::size_t i = 0; i < all.size(); ++i) {
    ASSERT_EQ(all[i].series, published[i].series);
    ASSERT_EQ(all[i].devices, published[i].devices);
    std::size_t column = 0;
    for (const auto number : columns) {
      const double wanted = published[i].figures[column];
      const auto found = number(all[i]);
      ASSERT_TRUE(found);
      EXPECT_LE(found->half_unit, 0.0015 * found->value);
      EXPECT_LE(std::fabs(found->value - wanted), found->half_unit + printed(column, wanted))
          << published[i].series << ' ' << published[i].devices << " column " << column;
      ++column;
    }
  }
}

/// The texts of a column of a table.
std::vector<std::string> shown(const Page& page, std::string_view id, std::string_view column) {
  std::vector<std::string> texts;
  for (const Section& section : page.sections)
    for (const auto& part : section.parts)
      if (const auto* table = std::get_if<Table>(&part); table && table->id == id)
        for (std::size_t i = 0; i < table->columns.size(); ++i)
          for (const auto& row : table->rows)
            if (table->columns[i].csv == column) texts.push_back(row[i].text);
  return texts;
}

TEST(Published, NoDigitIsShownThatTheRoundingLeavesOpen) {
  const Page page = study_page({.points = points()});
  const auto powers = shown(page, "figures-1", "kwh_per_device_hour");
  ASSERT_EQ(powers.size(), 9u);
  EXPECT_EQ(powers[0], "0.443");     // 0.411 ± 0.0005 hours: 0.4426 ± 0.0007
  EXPECT_EQ(powers[8], "0.266176");  // 30.2075 ± 0.00005 over 113.487 ± 0.0005
  EXPECT_EQ(shown(page, "figures-1", "passes_per_device_hour")[0], "4760");
}

TEST(Published, WhatIsShownIsTheAuthorsNumberToOneAndAHalfPerThousand) {
  const Page page = study_page({.points = points()});
  const char* columns[] = {"wall_minutes",
                           "kwh_per_device_hour",
                           "million_samples_per_device_hour",
                           "samples_per_second_per_device",
                           "passes_per_device_hour",
                           "wh_per_1000_samples"};
  for (std::size_t column = 0; column < std::size(columns); ++column) {
    std::vector<std::string> texts;
    for (const char* id : {"figures-1", "figures-2", "figures-3"})
      for (const std::string& text : shown(page, id, columns[column])) texts.push_back(text);
    ASSERT_EQ(texts.size(), std::size(published));
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const double wanted = published[i].figures[column];
      EXPECT_NEAR(std::stod(texts[i]), wanted, 0.0015 * wanted) << columns[column] << " row " << i;
    }
  }
}

TEST(Published, PopulationDeviationsBecomeTheSamples) {
  EXPECT_NEAR(*points()[0].energy_kwh->deviation, 0.0007 * std::sqrt(5.0 / 4), 1e-15);
}

TEST(Published, TheSameFiveJobsCountOnce) { EXPECT_EQ(distinct(points()).size(), 17u); }

TEST(Published, TheSlopeOfEnergyOverTheDataSetIsTheAuthors) {  // 0.02360 Wh a sample, R² 0.99997
  std::vector<double> samples, energies;
  const std::vector<Series> series = series_of(points());
  for (const Point& point : series.front().points) {
    samples.push_back(*point.data_set);
    energies.push_back(1000 * point.energy_kwh->mean);
  }
  const auto found = fit(line_design(samples), energies);
  EXPECT_NEAR(found->coefficients[1].estimate, 0.02360, 5e-6);
  EXPECT_NEAR(found->r_squared, 0.99997, 5e-6);
}

std::string all_words(const Page& page) {
  std::string words;
  for (const auto& line : page.supported) words += line + '\n';
  for (const auto& line : page.not_supported) words += line + '\n';
  for (const Section& section : page.sections)
    for (const auto& part : section.parts)
      if (const auto* said = std::get_if<Paragraph>(&part)) words += said->text + '\n';
  return words;
}

TEST(Published, ThePageSaysWhatTheRunsSupportAndWhatTheyDoNot) {
  const std::string words = all_words(study_page({.points = points()}));
  for (const char* said :
       {"between 0.262 and 0.483 kW over 17 configurations", "is mean power per device",
        "A model of the node", "Anything about quality", "nothing to compare", "count once",
        "Does one line suffice?", "in this design each is nearly fixed"})
    EXPECT_NE(words.find(said), std::string::npos) << said << "\n" << words;
}

}  // namespace
}  // namespace parajoule::report
