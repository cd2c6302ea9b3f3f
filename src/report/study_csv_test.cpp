#include "report/study_csv.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string head =
    "series,gpus,local_batch_size,dataset_samples,epochs,energy_kwh,device_hours,repeats\n";

FromCsv read(const std::string& text) {
  std::istringstream in(text);
  return read_csv(in, "x.csv");
}

TEST(StudyCsv, ReadsQuotesAndLineEndsOfAllKinds) {
  const auto found =
      read("\xEF\xBB\xBFseries,\"gpus\",device_hours\r\n\"a, \"\"b\"\"\",4,1.50\r\n\r\n");
  ASSERT_EQ(found.rows.size(), 1u);
  EXPECT_EQ(found.rows[0].series, "a, \"b\"");
  EXPECT_EQ(found.rows[0].devices, 4);
  EXPECT_DOUBLE_EQ(found.rows[0].device_hours->half_unit, 0.005);
  EXPECT_THAT(found.missing, ElementsAre("x.csv line 2: no kWh of energy"));
}

TEST(StudyCsv, TellsWhatItCannotUseAndGoesOn) {
  const auto found = read(head +
                          "a,4,256,1000,10,1.2,nan,5\n"
                          "a,8,256,1000,10,-3,2.0,5\n"
                          "a,0,256,1000,10,1,0,5\n"
                          "a,2,x,1000,10,1,3,5,9\n"
                          "a,2\n");
  EXPECT_EQ(found.rows.size(), 4u);
  EXPECT_THAT(
      found.missing,
      ElementsAre("x.csv line 2: device_hours 'nan' is no number", "x.csv line 2: no device hours",
                  "x.csv line 3: -3 kWh of energy, left out of what needs them",
                  "x.csv line 4: gpus is 0, which is left out",
                  "x.csv line 4: 0 device hours, left out of what needs them",
                  "x.csv line 4: no number of devices",
                  "x.csv line 5: 9 fields under 8 columns, left out",
                  "x.csv line 6: no kWh of energy", "x.csv line 6: no device hours"));
  EXPECT_FALSE(found.rows[0].device_hours);
  EXPECT_FALSE(found.rows[1].energy_kwh);
}

TEST(StudyCsv, RefusesWhatIsNoTableOfRuns) {
  for (const char* text : {"", "a,b\n1,2\n", "series,device_hours\na,1\n"}) try {
      read(text);
      ADD_FAILURE() << text;
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::input);
      EXPECT_THAT(error.what(), HasSubstr("'x.csv' is no CSV of runs"));
    }
  EXPECT_THROW(read_csv(std::filesystem::path("/nowhere/x.csv")), base::Error);
}

TEST(StudyCsv, TakesTheSamplesDeviationUnderItsOwnName) {
  const auto found =
      read("series,devices,device_hours,device_hours_sample_std,repeats\na,1,2,0.5,4\n");
  EXPECT_DOUBLE_EQ(*found.rows[0].device_hours->deviation, 0.5);
}

TEST(StudyCsv, RowsOfSingleRunsBecomeRepeats) {
  const auto points = grouped(read(head + "a,4,256,1000,10,1.0,2.0,1\n"
                                          "b,4,256,1000,10,9.0,2.0,1\n"
                                          "a,4,256,1000,10,1.2,2.2,\n"
                                          "a,8,256,1000,10,5,5,1\n")
                                  .rows);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_EQ(points[0].repeats, 2);
  EXPECT_DOUBLE_EQ(points[0].energy_kwh->mean, 1.1);
  EXPECT_NEAR(*points[0].energy_kwh->deviation, 0.1 * std::sqrt(2.0), 1e-12);
  EXPECT_THAT(points[0].behind, ElementsAre("x.csv line 2", "x.csv line 4"));
  EXPECT_TRUE(points[1].preliminary());
}

}  // namespace
}  // namespace parajoule::report
