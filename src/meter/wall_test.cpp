#include "meter/wall.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr double start = 1'764'497'472;  // 2025-11-30 10:11:12 UTC

Wall read(const std::string& text, Span wanted = {Seconds(0), Seconds(10)}) {
  std::istringstream stream(text);
  return wall_in(stream, "wall.csv", start, wanted);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const base::Error& error) {
    return error.what();
  }
  return "none";
}

std::vector<double> moments(const Wall& wall) {
  std::vector<double> all;
  for (const Row& row : wall.series.at(0).rows) all.push_back(row.at.count());
  return all;
}

TEST(Wall, JoinsRowsByTheTimeThatEachNotationMeans) {
  for (const char* time : {"1764497474.5", "2025-11-30T10:11:14.5Z", "2025-11-30 10:11:14.5Z",
                           "2025-11-30 11:11:14.5+01:00", "2025-11-30 04:41:14.5 -0530",
                           "\"2025-11-30 12:11:14.5 +02\""})
    EXPECT_THAT(moments(read(fmt::format("time,watts\n{},412.5\n", time))),
                ElementsAre(testing::DoubleNear(2.5, 1e-6)))
        << time;
  EXPECT_THAT(moments(read("# zone: +01:00\ntime,watts\n2025-11-30 11:11:14,412.5\n")),
              ElementsAre(2));
  EXPECT_THAT(moments(read("# clock: +0.5 s\ntime;watts\r\n1764497474.5;412.5\r\n")),
              ElementsAre(2));
}

TEST(Wall, ATimeWithoutAZoneIsRefusedWithTheWayOut) {
  EXPECT_THAT(refusal("time,watts\n2025-11-30 11:11:14,412.5\n"),
              HasSubstr("wall.csv, line 2: a time without its zone: put a line '# zone: +01:00'"));
}

TEST(Wall, TellsTheEnergyOfPower) {
  std::string text = "# accuracy: 0.5 %\ntime,watts\n";
  for (int at = -5; at <= 15; ++at) text += fmt::format("{},400\n", start + at);
  const Wall wall = read(text);
  ASSERT_THAT(wall.series, SizeIs(1));
  const Description& description = wall.series[0].description;
  EXPECT_EQ(description.device_kind, "outlet");
  EXPECT_EQ(description.label, Label::measured);
  EXPECT_NEAR(*description.bias_relative, 0.005, 1e-12);
  EXPECT_THAT(description.covers, HasSubstr("wall.csv"));
  const SourceAccount energy = account(wall.series[0], {Seconds(0), Seconds(10)});
  EXPECT_NEAR(energy.energy->value, 4000, 1e-6);
}

TEST(Wall, TellsTheEnergyOfACounterInKilowattHours) {
  const std::string text =
      fmt::format("time,kilowatt_hours\n{},17\n{},17.001\n", start, start + 10);
  const SourceAccount energy = account(read(text).series.at(0), {Seconds(0), Seconds(10)});
  EXPECT_NEAR(energy.energy->value, 3600, 1e-3);
}

TEST(Wall, IsATotalBesideThePartsAndNeverAddedToThem) {
  std::string text = "time,watts\n";
  for (int at = 0; at <= 10; ++at) text += fmt::format("{},400\n", start + at);
  std::vector<Series> series = read(text).series;
  Series package{{.device = "package-0",
                  .device_kind = "cpu",
                  .quantity = Quantity::power,
                  .unit = "watts",
                  .label = Label::measured,
                  .covers = "package"},
                 {}};
  for (int at = 0; at <= 10; ++at) package.rows.push_back({1, Seconds(at), 100.0});
  series.push_back(package);
  const NodeAccount node = account(series, {Seconds(0), Seconds(10)});
  EXPECT_NEAR(node.totals.measured->energy().value, 1000, 1e-6);
  ASSERT_THAT(node.wholes, SizeIs(1));
  EXPECT_NEAR(node.wholes[0].remainder->value, 3000, 1e-6);
}

TEST(Wall, OfASharedOutletEachNodeHasAnEqualPartWhichIsModelled) {
  std::string text = "# feeds: 4\n# outlet: A7\ntime,watts\n";
  for (int at = 0; at <= 10; ++at) text += fmt::format("{},400\n", start + at);
  const Wall wall = read(text);
  const Description& description = wall.series.at(0).description;
  EXPECT_EQ(description.device, "outlet A7");
  EXPECT_EQ(description.label, Label::modelled);
  EXPECT_THAT(*description.formula, HasSubstr("divided by 4"));
  const NodeAccount node = account(wall.series, {Seconds(0), Seconds(10)});
  EXPECT_NEAR(node.sources[0].energy->value, 1000, 1e-6);
  EXPECT_EQ(node.totals.modelled, std::nullopt);  // in no total
  EXPECT_EQ(node.wholes.at(0).remainder, std::nullopt);
}

TEST(Wall, GapsAreGaps) {
  std::string text = "time,watts\n";
  for (int at = 0; at <= 100; ++at)
    if (at < 20 || at > 80) text += fmt::format("{},400\n", start + at);
  text += fmt::format("{},\n{},-\n", start + 30, start + 40);
  const Wall wall = read(text, {Seconds(0), Seconds(100)});
  const SourceAccount energy = account(wall.series.at(0), {Seconds(0), Seconds(100)});
  EXPECT_LT(energy.covered, Seconds(45));  // nothing is filled in between 20 and 80 s
  EXPECT_LT(energy.energy->value, 400 * 45);
  EXPECT_THAT(energy.remarks, testing::Contains(HasSubstr("the file has no number")));
}

TEST(Wall, KeepsOutletsApartAndTakesTheTimeOfTheRunAlone) {
  std::string text = "outlet;time;watts;volts\n";
  for (int at = -100; at <= 110; at += 5)
    text += fmt::format("A;{};400;230\nB;{};100;230\n", start + at, start + at);
  const Wall wall = read(text);
  ASSERT_THAT(wall.series, SizeIs(2));
  EXPECT_EQ(wall.series[1].description.device, "outlet B");
  EXPECT_THAT(moments(wall), ElementsAre(0, 5, 10));
}

TEST(Wall, SaysWhenNothingFitsAndWhichLinesItPassedOver) {
  EXPECT_THAT(read("time,watts\n1000,4\n").remarks,
              ElementsAre(HasSubstr("nothing of the run's time")));
  EXPECT_THAT(read("time,watts\n").remarks, ElementsAre(HasSubstr("has no rows")));
  const Wall wall = read(fmt::format("time,watts\nnow,4\n2025-13-30 10:11:12Z,3\n{},5\n", start));
  EXPECT_THAT(wall.remarks, ElementsAre(HasSubstr("2 lines have no time; line 2 is the first")));
  EXPECT_THAT(wall.series, SizeIs(1));
}

TEST(Wall, ALastLineThatIsBeingWrittenIsNotTaken) {
  const std::string text = fmt::format("time,watts\n{},400\n{},4", start, start + 1);
  EXPECT_THAT(moments(read(text)), ElementsAre(0));
}

TEST(Wall, RefusesWhatIsNoSuchFile) {
  EXPECT_THAT(refusal(""), HasSubstr("no line that names its columns"));
  EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("line 1: has to name a column 'time'"));
  EXPECT_THAT(refusal("# zone: CET\n"), HasSubstr("line 1: no time zone such as UTC"));
  EXPECT_THAT(refusal("# feeds: 0\n"), HasSubstr("no number for feeds"));
  const MadeUpTree tree;
  EXPECT_THROW(wall_of(tree.root(), start, {Seconds(0), Seconds(1)}), base::Error);
  EXPECT_THROW(wall_of(tree.root() / "none.csv", start, {Seconds(0), Seconds(1)}), base::Error);
}

}  // namespace
}  // namespace parajoule::meter
