#include "meter/found_periods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "meter/made_up_source.h"
#include "meter/made_up_tree.h"

namespace parajoule::meter {
namespace {

using base::Seconds;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::unique_ptr<Source>> one(std::optional<Seconds> stated) {
  Description description = described("node", Quantity::power);
  description.covers = "node, made up";
  description.update_period = stated;
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(made_up(description, [](Seconds) { return 7.0; }));
  return sources;
}

TEST(FoundPeriods, AreKeptAndFoundAgain) {
  const MadeUpTree tree;
  const auto file = tree.root() / "cache/of/mine/periods.json";
  const FoundPeriod kept[] = {{"node, made up", Seconds(0.5), "2025-11-30T10:11:12.123Z"}};
  keep_found_periods(file, kept);
  const auto found = found_periods(file);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].covers, kept[0].covers);
  EXPECT_EQ(found[0].period, kept[0].period);
  EXPECT_EQ(found[0].seen_utc, kept[0].seen_utc);
}

TEST(FoundPeriods, AreTakenWhereADeviceStatesNoneOrAShorterOne) {
  const FoundPeriod found[] = {{"node, made up", Seconds(0.5), "then"}};
  for (const auto stated : {std::optional<Seconds>(), std::optional(Seconds(0.1))}) {
    auto sources = one(stated);
    const auto taken = take_periods(sources, found);
    ASSERT_THAT(taken, SizeIs(1));
    EXPECT_EQ(taken[0].seen_utc, "then");
    EXPECT_EQ(sources[0]->description().update_period, Seconds(0.5));
    EXPECT_EQ(std::get<double>(sources[0]->read(Seconds(0))), 7);
  }
  auto slower = one(Seconds(2));
  EXPECT_THAT(take_periods(slower, found), IsEmpty());
  EXPECT_EQ(slower[0]->description().update_period, Seconds(2));
}

TEST(FoundPeriods, AFileOfAnotherKindTellsNone) {
  const MadeUpTree tree;
  for (const char* text :
       {"", "{", "[]", R"({"format": "x"})", R"({"format": "parajoule update periods"})",
        R"({"format": "parajoule update periods", "periods": [7, {}, {"covers": "a", "seconds": -1,
            "seen_utc": ""}]})"}) {
    tree.write("periods.json", text);
    EXPECT_THAT(found_periods(tree.root() / "periods.json"), IsEmpty()) << text;
  }
  EXPECT_THAT(found_periods(tree.root() / "none.json"), IsEmpty());
}

TEST(FoundPeriods, AFileThatCannotBeWrittenIsSaid) {
  const MadeUpTree tree;
  tree.write("plain", "");
  EXPECT_THROW(keep_found_periods(tree.root() / "plain/periods.json", {}), base::Error);
}

}  // namespace
}  // namespace parajoule::meter
