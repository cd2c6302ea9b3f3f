#include "cli/whole_training.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/folder.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;

/// A start of a training in which a package drew 100 W for 10 s; gives its id.
std::string add_start(const store::TemporaryFolder& folder, const std::string& before,
                      const std::filesystem::path& run_folder = {}) {
  store::Record record(store::options_in(folder));
  const store::Example example;
  if (!before.empty()) record.add(store::Setting{"continues", before, "found"});
  record.add(store::Setting{"run_folder", run_folder.string(), "found"});
  record.add(example.node);
  store::Source package = example.package;
  package.bias_relative = 0.05;
  record.add(package);
  for (int at = 0; at <= 10; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 1000 + 100.0 * at}});
  record.finish(store::State::stopped);
  return record.id();
}

store::Reader record_of(const store::TemporaryFolder& folder, const std::string& id) {
  return store::Reader(store::find_record(folder.path(), id));
}

TEST(WholeTraining, AddsUpAllStartsOfATraining) {
  const store::TemporaryFolder folder;
  const std::string first = add_start(folder, "");
  const std::string second = add_start(folder, first);
  const std::string third = add_start(folder, second);
  const auto training = whole_training(record_of(folder, third));
  ASSERT_TRUE(training);
  std::vector<std::string> ids;
  for (const auto& start : training->starts) ids.push_back(start.id);
  EXPECT_THAT(ids, ElementsAre(first, second, third));
  EXPECT_EQ(training->wall(), Seconds(30));
  ASSERT_TRUE(training->totals().measured);
  EXPECT_NEAR(training->totals().measured->energy().value, 3000, 1e-6);
  // The same sensor each time: its bias adds up, its resolution does not.
  const auto one = training->starts[0].totals.measured->uncertainty();
  const auto all = training->totals().measured->uncertainty();
  EXPECT_NEAR(all.bias.value, 3 * one.bias.value, 1e-9);
  EXPECT_NEAR(all.resolution.value, std::sqrt(3) * one.resolution.value, 1e-9);
  EXPECT_FALSE(training->totals().modelled);
}

TEST(WholeTraining, IsNothingMoreForASingleStart) {
  const store::TemporaryFolder folder;
  EXPECT_FALSE(whole_training(record_of(folder, add_start(folder, ""))));
}

TEST(WholeTraining, NamesTheRecordThatIsMissing) {
  const store::TemporaryFolder folder;
  const std::string last = add_start(folder, "deadbeef");
  const auto training = whole_training(record_of(folder, last));
  ASSERT_TRUE(training);
  EXPECT_EQ(training->missing, "deadbeef");
  EXPECT_EQ(training->starts.size(), 1u);
  EXPECT_THAT(whole_training_text(training, Look::plain), HasSubstr("without the record deadbeef"));
}

TEST(WholeTraining, EndsWhereRecordsGoInACircle) {
  const store::TemporaryFolder folder;
  store::Record record(store::options_in(folder));
  record.add(store::Setting{"continues", record.id(), "found"});
  record.finish(store::State::stopped);
  const auto training = whole_training(record_of(folder, record.id()));
  ASSERT_TRUE(training);
  EXPECT_EQ(training->starts.size(), 1u);
}

TEST(TrainedWeights, AreInTheCheckpointWithTheHighestNumber) {
  const store::TemporaryFolder folder;
  const store::TemporaryFolder run;
  for (const char* name : {"9.ckpt", "10.ckpt", "10.rank1.ckpt", "11.ckpt.broken", "12.ckpt.part"})
    std::ofstream(run.path() / name) << "x";
  const auto lines = checkpoint_of(record_of(folder, add_start(folder, "", run.path())));
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front(), (run.path() / "10.ckpt").string());
}

TEST(TrainedWeights, AreNotSpokenOfWhereThereAreNone) {
  const store::TemporaryFolder folder;
  EXPECT_TRUE(checkpoint_of(record_of(folder, add_start(folder, "", "/nowhere/at/all"))).empty());
}

}  // namespace
}  // namespace parajoule::cli
