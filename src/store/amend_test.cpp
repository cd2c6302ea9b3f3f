#include "store/amend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "store/reader.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

std::filesystem::path finished(const TemporaryFolder& folder) {
  Record record(options_in(folder));
  Example().add_to(record);
  record.finish(State::done);
  return record.path();
}

TEST(Amend, AddsRowsAndReplacesSettings) {
  const TemporaryFolder folder;
  const auto file = finished(folder);
  Source outlet = Example().package;
  outlet.source = 2;
  const Reading reading{.source = 2, .seconds = base::Seconds(1), .value = 3.5};
  amend(file, {.settings = {{"a", "1", "x"}, {"local_sgd.period", "9", "y"}},
               .sources = {outlet},
               .readings = {reading}});
  const Reader record(file);
  EXPECT_EQ(record.setting("a"), "1");
  EXPECT_EQ(record.setting("local_sgd.period"), "9");
  EXPECT_EQ(record.rows<Source>().back(), outlet);
  EXPECT_EQ(record.rows<Reading>().back(), reading);
  EXPECT_EQ(record.run().state, State::done);
}

TEST(Amend, IsAllOrNothing) {
  const TemporaryFolder folder;
  const auto file = finished(folder);
  const Reading of_nothing{.source = 9, .seconds = base::Seconds(1), .value = 3.5};
  EXPECT_THROW(amend(file, {.settings = {{"a", "1", "x"}}, .readings = {of_nothing}}), base::Error);
  EXPECT_EQ(Reader(file).setting("a"), std::nullopt);
}

TEST(Amend, LeavesARunThatGoesOnAlone) {
  const TemporaryFolder folder;
  Record record(options_in(folder));
  record.write();
  EXPECT_THROW(amend(record.path(), {.settings = {{"a", "1", "x"}}}), base::Error);
}

}  // namespace
}  // namespace parajoule::store
