#include "measure/account.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "measure/made_up_record.h"
#include "store/database.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using store::TemporaryFolder;
using testing::ElementsAre;
using testing::Eq;
using testing::Optional;
using testing::SizeIs;

class Accounts : public testing::Test {
 protected:
  Account of(const MadeUpNode& node) {
    return account_of(store::Reader(made_record(folder_, node)));
  }
  TemporaryFolder folder_;
};

TEST_F(Accounts, AreOfTheTimeTheCommandRan) {
  const Account account = of({});
  EXPECT_EQ(account.wall, Seconds(10));
  EXPECT_EQ(account.status, 3);
  EXPECT_THAT(account.cpu, Optional(Eq(Seconds(2.5))));
  ASSERT_TRUE(account.totals.measured);
  EXPECT_NEAR(account.totals.measured->energy().value, 1000, 1e-9);
  ASSERT_TRUE(account.totals.modelled);
  EXPECT_NEAR(account.totals.modelled->energy().value, 40, 1e-9);
  EXPECT_FALSE(account.above);
}

TEST_F(Accounts, OfAMeterThatWasKilledReachToItsLastReading) {
  store::Record::Options options = store::options_in(folder_);
  options.kind = store::Kind::measure;
  store::Record record(options);
  store::Example example;
  record.add(example.node);
  record.add(example.package);
  for (int at = 0; at <= 8; ++at)
    record.add(
        std::vector<store::Reading>{{.source = 0, .seconds = Seconds(at), .value = 10.0 * at}});
  record.add(settings_of(command_span, 0, Seconds(2), {}).front());
  record.finish(store::State::done);
  const Account account = account_of(store::Reader(record.path()));
  EXPECT_EQ(account.wall, Seconds(6));
  EXPECT_EQ(account.status, std::nullopt);
  EXPECT_NEAR(account.totals.measured->energy().value, 60, 1e-9);
}

/// A record of two readings, changed by others.
class OddRecord : public Accounts, public testing::WithParamInterface<const char*> {};

TEST_P(OddRecord, IsRefusedByRowOrSettingAndFile) {
  const std::filesystem::path file = made_record(folder_, {});
  store::Database(file, {.access = store::Database::Access::write}).run(GetParam());
  try {
    account_of(store::Reader(file));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_THAT(error.what(), testing::HasSubstr(file.string()));
    EXPECT_THAT(error.what(),
                testing::ContainsRegex("row 1 of table reading|column .seconds.|begin_seconds"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Each, OddRecord,
    testing::Values("UPDATE reading SET value = 9e999 WHERE rowid = 1",
                    "UPDATE reading SET value = -1e300 WHERE rowid = 1",
                    "UPDATE reading SET seconds = 9e999 WHERE rowid = 1",
                    "UPDATE setting SET value = 'nan' WHERE key = 'command.0.begin_seconds'",
                    "UPDATE setting SET value = 'inf' WHERE key = 'command.0.begin_seconds'",
                    "UPDATE setting SET value = '1e300' WHERE key = 'command.0.begin_seconds'"));

TEST_F(Accounts, AboveIdleIsWhatTheCommandAdds) {
  const Account account = of({.watts = 130, .idle_watts = 30});
  ASSERT_TRUE(account.above);
  ASSERT_TRUE(account.above->measured);
  EXPECT_NEAR(account.above->measured->energy().value, (130 - 30) * 10, 1e-9);
  // The bias of the sensor holds for the difference, not for what cancels out.
  EXPECT_NEAR(account.above->measured->uncertainty().bias.value, 0.05 * 1000, 1e-9);
  // Both spans are uncertain; the idle one, of half the length, counts twice.
  const auto& node = account.nodes[0];
  const double command = node.command.sources[0].uncertainty.resolution.value;
  EXPECT_GT(node.above->sources[0].uncertainty.resolution.value, command);
  EXPECT_NEAR(account.above->modelled->energy().value, 0, 1e-9) << "memory draws the same";
}

TEST_F(Accounts, AboveIdleOfWhatWasNotMeteredBeforeIsNone) {
  const Account account = of({.from = 5, .idle_watts = 1});
  EXPECT_FALSE(account.above && account.above->measured);
}

/// A GPU that draws 100 W for 10 s and then, under the command, 300 W, beside a package of 50 W.
/// Before the command a look at the GPU says `value` of what it is asked in `unit`.
std::filesystem::path made_gpu_record(const TemporaryFolder& folder, const std::string& unit,
                                      double value) {
  store::Record::Options options = store::options_in(folder);
  options.kind = store::Kind::measure;
  store::Record record(options);
  store::Example example;
  store::Source gpu = example.package;
  gpu.source = 1;
  gpu.device = "GPU 0";
  gpu.device_kind = "gpu";
  store::Source look = gpu;
  look.source = 2;
  look.quantity = store::Quantity::utilisation;
  look.unit = unit;
  record.add(example.node);
  for (const store::Source& source : {example.package, gpu, look}) record.add(source);
  for (int at = 0; at <= 20; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 50.0 * at},
        {.source = 1, .seconds = Seconds(at), .value = 100.0 * at + 200.0 * std::max(at - 10, 0)},
        {.source = 2, .seconds = Seconds(at), .value = at <= 10 ? value : 1}});
  for (const auto& [name, begin] : {std::pair(idle_span, 0), std::pair(command_span, 10)})
    for (store::Setting& setting : settings_of(name, 0, Seconds(begin), Seconds(begin + 10)))
      record.add(std::move(setting));
  record.finish(store::State::done);
  return record.path();
}

TEST_F(Accounts, AboveIdleOfAGpuThatWasNotIdleIsNone) {
  const auto quiet = account_of(store::Reader(made_gpu_record(folder_, "processes", 0)));
  EXPECT_NEAR(quiet.above->measured->energy().value, 2000, 1e-6);
  EXPECT_THAT(quiet.nodes[0].command.sources[1].remarks, testing::IsEmpty());
  const std::tuple<const char*, double, const char*> looks[] = {
      {"processes", 2, "2 processes computed on it"}, {"fraction", 0.8, "it was 80 % busy"}};
  for (const auto& [unit, value, told] : looks) {
    const auto used = account_of(store::Reader(made_gpu_record(folder_, unit, value)));
    EXPECT_EQ(used.nodes[0].above->sources[1].energy, std::nullopt) << unit;
    EXPECT_NEAR(used.nodes[0].above->sources[0].energy->value, 0, 1e-6);
    EXPECT_FALSE(used.above->measured) << "a sum without it would be taken for all";
    EXPECT_THAT(used.nodes[0].command.sources[1].remarks,
                testing::Contains(testing::HasSubstr(told)));
    EXPECT_NEAR(used.totals.measured->energy().value, 3500, 1e-6);
  }
}

TEST_F(Accounts, RegionsThatTileTheRunHaveItsEnergy) {
  std::vector<store::Phase> phases;
  for (int i = 0; i < 10; ++i)
    phases.push_back({.rank = 0,
                      .name = i % 2 ? "odd" : "even",
                      .begin = Seconds(5 + i),
                      .end = Seconds(6 + i)});
  const Account account = of({.phases = phases});
  ASSERT_THAT(account.regions, SizeIs(2));
  double sum = 0;
  for (const Region& region : account.regions) {
    EXPECT_EQ(region.entered, 5);
    EXPECT_EQ(region.time, Seconds(5));
    ASSERT_THAT(region.energies, SizeIs(2));
    EXPECT_EQ(region.energies[0].device, "package-0");
    sum += region.energies[0].energy->value;
  }
  EXPECT_NEAR(sum, account.totals.measured->energy().value, 1e-9);
}

TEST_F(Accounts, ARegionOfSeveralProcessesCountsTheNodesEnergyOnce) {
  std::vector<store::Phase> phases;
  for (int rank = 0; rank < 4; ++rank)
    phases.push_back(
        {.rank = rank, .name = "step", .begin = Seconds(6 + rank), .end = Seconds(8 + rank)});
  const Account account = of({.phases = phases});
  ASSERT_THAT(account.regions, SizeIs(1));
  EXPECT_EQ(account.regions[0].entered, 4);
  EXPECT_EQ(account.regions[0].time, Seconds(5));
  EXPECT_NEAR(account.regions[0].energies[0].energy->value, 500, 1e-9);
}

TEST_F(Accounts, ARegionWithoutLengthHasNoNumber) {
  const Account account =
      of({.phases = {{.rank = 0, .name = "mark", .begin = Seconds(7), .end = Seconds(7)}}});
  ASSERT_THAT(account.regions, SizeIs(1));
  EXPECT_EQ(account.regions[0].energies[0].energy, std::nullopt) << "not 0 J";
}

}  // namespace
}  // namespace parajoule::measure
