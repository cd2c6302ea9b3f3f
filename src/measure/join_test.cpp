#include "measure/join.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/account.h"
#include "store/file_name.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using store::TemporaryFolder;

/// A command of ten seconds, in a record of its own.
std::filesystem::path record_of(const TemporaryFolder& folder) {
  store::Record::Options options = store::options_in(folder);
  options.kind = store::Kind::measure;
  store::Record record(options);
  const store::Example example;
  record.add(example.node);
  record.add(example.package);
  for (int at = 0; at <= 10; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 5000 + 100.0 * at}});
  record.finish(store::State::done);
  return record.path();
}

std::filesystem::path wall_file(const TemporaryFolder& folder, double start) {
  const auto file = folder.path() / "wall.csv";
  std::ofstream out(file);
  out << "time,watts\n";
  for (int at = -5; at <= 15; ++at) out << fmt::format("{:.3f},400\n", start + at);
  return file;
}

TEST(Join, MakesAFileOfAWallMeterATotalBesideTheOthers) {
  const TemporaryFolder folder;
  const auto record = record_of(folder);
  const double start = store::seconds_of_utc(store::Reader(record).run().started_utc);
  EXPECT_TRUE(join(record, wall_file(folder, start), 0).empty());
  const Account account = account_of(store::Reader(record));
  ASSERT_EQ(account.nodes.size(), 1u);
  EXPECT_EQ(account.wall, Seconds(10));  // the file reaches further
  EXPECT_NEAR(account.totals.measured->energy().value, 1000, 1e-6);
  ASSERT_EQ(account.nodes[0].command.wholes.size(), 1u);
  const auto& wall = account.nodes[0].command.sources[account.nodes[0].command.wholes[0].source];
  EXPECT_NEAR(wall.energy->value, 4000, 1e-3);
  EXPECT_NEAR(account.nodes[0].command.wholes[0].remainder->value, 3000, 1e-3);
}

TEST(Join, RefusesASecondTimeAnotherTimeAndANodeThatIsNotThere) {
  const TemporaryFolder folder;
  const auto record = record_of(folder);
  const double start = store::seconds_of_utc(store::Reader(record).run().started_utc);
  EXPECT_THROW(join(record, wall_file(folder, start), 1), base::Error);
  EXPECT_THROW(join(record, wall_file(folder, start - 86400), 0), base::Error);
  EXPECT_EQ(store::Reader(record).rows<store::Source>().size(), 1u);
  join(record, wall_file(folder, start), 0);
  EXPECT_THROW(join(record, wall_file(folder, start), 0), base::Error);
  EXPECT_EQ(store::Reader(record).rows<store::Source>().size(), 2u);
}

}  // namespace
}  // namespace parajoule::measure
