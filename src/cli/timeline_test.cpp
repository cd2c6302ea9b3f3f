#include "cli/timeline.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using Json = nlohmann::json;
using store::TemporaryFolder;
using testing::HasSubstr;

Json read(const std::filesystem::path& file) { return Json::parse(std::ifstream(file)); }

std::vector<Json> of_kind(const Json& events, const std::string& kind) {
  std::vector<Json> found;
  for (const Json& event : events)
    if (event.at("ph") == kind) found.push_back(event);
  return found;
}

/// Two ranks, a counter that is missing once, a sensor of power, and words with quotes in them.
Json written_from_a_record(const TemporaryFolder& folder) {
  store::Record record(store::options_in(folder));
  store::Example example;
  record.add(example.node);
  record.add(example.package);
  record.add(example.memory);
  record.add(store::Phase{0, "forward", Seconds(1), Seconds(1.5)});
  record.add(store::Phase{1, "exposed_communication", Seconds(1.25), Seconds(3)});
  record.add(std::vector<store::Reading>{{.source = 0, .seconds = Seconds(1), .value = 100},
                                         {.source = 0, .seconds = Seconds(3), .value = 160},
                                         {.source = 0, .seconds = Seconds(4), .gap = "gone"},
                                         {.source = 0, .seconds = Seconds(5), .value = 400},
                                         {.source = 0, .seconds = Seconds(6), .value = 410},
                                         {.source = 1, .seconds = Seconds(2), .value = 3.5}});
  record.add(store::Note{Seconds(4), std::nullopt, store::Severity::note, "the \"end\"\xff"});
  record.finish(store::State::done);
  write_timeline(store::Reader(record.path()), folder.path() / "timeline.json");
  return read(folder.path() / "timeline.json");
}

TEST(Timeline, HasEachPhaseAsASpanOfItsRank) {
  const TemporaryFolder folder;
  const std::vector<Json> spans = of_kind(written_from_a_record(folder), "X");
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(
      spans[0],
      (Json{
          {"ph", "X"}, {"name", "forward"}, {"pid", 0}, {"tid", 0}, {"ts", 1e6}, {"dur", 0.5e6}}));
  EXPECT_EQ(spans[1], (Json{{"ph", "X"},
                            {"name", "exposed communication"},
                            {"pid", 1},
                            {"tid", 0},
                            {"ts", 1.25e6},
                            {"dur", 1.75e6}}));
}

TEST(Timeline, NamesEveryProcessOnce) {
  const TemporaryFolder folder;
  std::vector<std::string> names;
  for (const Json& event : of_kind(written_from_a_record(folder), "M"))
    if (event.at("name") == "process_name") names.push_back(event.at("args").at("name"));
  EXPECT_THAT(names, testing::UnorderedElementsAre("rank 0", "rank 1", "node 0"));
}

TEST(Timeline, PowerOfACounterIsTheMeanBetweenReadingsAndNoneAcrossAGap) {
  const TemporaryFolder folder;
  std::vector<std::pair<double, double>> package;
  std::vector<std::pair<double, double>> memory;
  for (const Json& event : of_kind(written_from_a_record(folder), "C")) {
    const std::string curve = event.at("name");
    (curve == "package-0, W (measured)" ? package : memory)
        .emplace_back(event.at("ts"), event.at("args").at("value"));
  }
  EXPECT_THAT(package, testing::ElementsAre(std::pair(1e6, 30.0), std::pair(5e6, 10.0)));
  EXPECT_THAT(memory, testing::ElementsAre(std::pair(2e6, 3.5)));
}

TEST(Timeline, WordsOfAnyBytesStandInWellFormedText) {
  const TemporaryFolder folder;
  const std::vector<Json> words = of_kind(written_from_a_record(folder), "i");
  const auto ours =
      std::ranges::find(words, Json(4e6), [](const Json& word) { return word["ts"]; });
  ASSERT_NE(ours, words.end());
  EXPECT_EQ(ours->at("name"), "the \"end\"\xef\xbf\xbd");
}

TEST(Timeline, AFileWithoutEventsIsAnEmptyList) {
  const TemporaryFolder folder;
  Timeline timeline(folder.path() / "empty.json");
  timeline.finish();
  EXPECT_EQ(read(folder.path() / "empty.json"), Json::array());
}

TEST(Timeline, SaysWhichFileCannotBeWritten) {
  const auto told = [](const auto& act) -> std::string {
    try {
      act();
    } catch (const base::Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(told([] { Timeline("/no/such/folder/t.json"); }),
              HasSubstr("--timeline /no/such/folder/t.json: cannot be written: No such file"));
  EXPECT_THAT(told([] {
                Timeline timeline("/dev/full");
                timeline.span(0, Timeline::Lane::device, "forward", Seconds(0), Seconds(1));
                timeline.finish();
              }),
              HasSubstr("/dev/full: cannot be written"));
}

}  // namespace
}  // namespace parajoule::cli
