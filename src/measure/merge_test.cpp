#include "measure/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/account.h"
#include "measure/made_up_record.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using store::TemporaryFolder;
using testing::HasSubstr;
using testing::SizeIs;

class Merge : public testing::Test {
 protected:
  std::filesystem::path part(const MadeUpNode& node) { return made_record(folder_, node); }

  Account merged(const std::vector<std::filesystem::path>& files) {
    const auto file = merge(files, folder_.path() / "merged");
    EXPECT_TRUE(file);
    return account_of(store::Reader(*file));
  }

  std::string refusal(const std::vector<std::filesystem::path>& files) {
    try {
      merge(files, folder_.path());
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      return error.what();
    }
    return "merged";
  }

  TemporaryFolder folder_;
};

TEST_F(Merge, AddsTheEnergiesOfNodes) {
  const Account account = merged({part({.boot_id = "x", .watts = 100}),
                                  part({.boot_id = "y", .watts = 60, .begin = 4, .end = 16})});
  ASSERT_THAT(account.nodes, SizeIs(2));
  EXPECT_NEAR(account.totals.measured->energy().value, 100 * 10 + 60 * 12, 1e-6);
  EXPECT_NEAR(account.totals.modelled->energy().value, 4 * (10 + 12), 1e-6);
  EXPECT_NEAR(account.wall.count(), 12, 1e-9);
  EXPECT_EQ(account.cpu, Seconds(5));
  EXPECT_EQ(account.status, 3);
  // Biases of sensors of one type add up.
  EXPECT_NEAR(account.totals.measured->uncertainty().bias.value, 0.05 * 1720, 1e-6);
}

TEST_F(Merge, TellsOfNodesThatAreMissing) {
  const Account account = merged({part({.boot_id = "x", .settings = {{"nodes", "4", "found"}}}),
                                  part({.boot_id = "y", .settings = {{"nodes", "4", "found"}}})});
  EXPECT_THAT(account.nodes, SizeIs(2));
  EXPECT_EQ(account.expected_nodes, 4);
}

TEST_F(Merge, TwoMetersOfOneNodeAreOneNode) {
  // The second is started 3 s after the first one, and its counter begins elsewhere.
  const Account account =
      merged({part({.clock = 1000, .begin = 2, .end = 12}),
              part({.clock = 1003, .counter_start = 9000, .begin = 2, .end = 12})});
  ASSERT_THAT(account.nodes, SizeIs(1));
  EXPECT_THAT(account.nodes[0].command.sources, SizeIs(2));
  EXPECT_NEAR(account.wall.count(), 13, 1e-9) << "from 2 s to 15 s";
  EXPECT_NEAR(account.totals.measured->energy().value, 1300, 1e-6) << "not 2000";
}

TEST_F(Merge, GoesOnWithTheSecondMeterWhereTheFirstEnds) {
  const Account account =
      merged({part({.clock = 1000, .until = 10, .begin = 2, .end = 10}),
              part({.clock = 1005, .counter_start = 9000, .until = 15, .begin = 1, .end = 14})});
  EXPECT_NEAR(account.wall.count(), 17, 1e-9) << "from 2 s to 19 s";
  EXPECT_NEAR(account.totals.measured->energy().value, 1700, 1e-6);
  EXPECT_NEAR(account.totals.modelled->energy().value, 4 * 17, 1e-6);
}

TEST_F(Merge, RefusesTwoRunsOfOneNode) {
  EXPECT_THAT(refusal({part({.clock = 1000}), part({.clock = 2000})}),
              HasSubstr("at another time"));
}

TEST_F(Merge, RefusesRecordsOfTraining) {
  store::Record record(store::options_in(folder_));
  record.finish(store::State::done);
  EXPECT_THAT(refusal({record.path(), part({})}), HasSubstr("no record of `parajoule measure`"));
}

TEST_F(Merge, RefusesOneRecord) { EXPECT_THAT(refusal({part({})}), HasSubstr("two nodes")); }

TEST_F(Merge, RefusesWhatIsMergedAlready) {
  const auto file =
      merge(std::vector{part({.boot_id = "x"}), part({.boot_id = "y"})}, folder_.path() / "merged");
  EXPECT_THAT(refusal({*file, part({})}), HasSubstr("2 nodes"));
}

TEST_F(Merge, KeepsTheProcessesOfNodesApart) {
  const std::vector<store::Phase> phases = {
      {.rank = 0, .name = "step", .begin = Seconds(6), .end = Seconds(8)}};
  const Account account = merged({part({.boot_id = "x", .watts = 100, .phases = phases}),
                                  part({.boot_id = "y", .watts = 10, .phases = phases})});
  ASSERT_THAT(account.regions, SizeIs(2));
  EXPECT_NEAR(account.regions[0].energies[0].energy->value, 200, 1e-6);
  EXPECT_NEAR(account.regions[1].energies[0].energy->value, 20, 1e-6);
}

TEST_F(Merge, LeavesTheRecordsAsTheyAre) {
  const std::vector files = {part({.boot_id = "x"}), part({.boot_id = "y"})};
  merged(files);
  for (const auto& file : files)
    EXPECT_NEAR(account_of(store::Reader(file)).totals.measured->energy().value, 1000, 1e-9);
}

}  // namespace
}  // namespace parajoule::measure
