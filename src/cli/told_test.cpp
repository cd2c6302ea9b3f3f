#include "cli/told.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/run_account.h"
#include "store/database.h"
#include "store/record.h"
#include "store/test_record.h"

namespace parajoule::cli {
namespace {

using base::Seconds;
using store::Record;
using store::TemporaryFolder;
using testing::HasSubstr;

/// Ten seconds of a package that draws 100 W.
std::filesystem::path record_of(const TemporaryFolder& folder,
                                store::Kind kind = store::Kind::run) {
  Record::Options options = store::options_in(folder);
  options.kind = kind;
  Record record(options);
  const store::Example example;
  record.add(example.node);
  record.add(example.package);
  for (int at = 0; at <= 10; ++at)
    record.add(std::vector<store::Reading>{
        {.source = 0, .seconds = Seconds(at), .value = 5000 + 100.0 * at}});
  record.finish(store::State::done);
  return record.path();
}

std::string text_of(const std::filesystem::path& file) {
  const store::Reader record(file);
  return recomputed_text(record, recomputed(record), Look::plain);
}

Recount recount(const std::filesystem::path& file) {
  return recount_of(recomputed(store::Reader(file)));
}

TEST(Recompute, FindsWhatWasTold) {
  const TemporaryFolder folder;
  for (store::Kind kind : {store::Kind::run, store::Kind::measure}) {
    const auto file = record_of(folder, kind);
    EXPECT_EQ(recount(file), Recount::unknown);
    EXPECT_EQ(keep_told(file), "");
    EXPECT_EQ(recount(file), Recount::same);
    const auto sources = recomputed(store::Reader(file));
    ASSERT_EQ(sources.size(), 1u);
    EXPECT_NEAR(sources[0].told->value, 1000, 1e-9);
    EXPECT_EQ(sources[0].readings, 11u);
    EXPECT_THAT(text_of(file), HasSubstr("Every number is what was told."));
  }
}

TEST(Recompute, NamesADifferenceAndWhereItIs) {
  const TemporaryFolder folder;
  const auto file = record_of(folder);
  keep_told(file);
  {
    const store::Database database(file, {.access = store::Database::Access::write});
    database.run("UPDATE reading SET value = value + 50 WHERE seconds = 10");
  }
  EXPECT_EQ(recount(file), Recount::differs);
  const std::string text = text_of(file);
  EXPECT_THAT(text, HasSubstr("package-0"));
  EXPECT_THAT(text, HasSubstr("(+5 %)"));
  EXPECT_THAT(text, HasSubstr("1 of 1 numbers differ"));
}

TEST(Recompute, ANumberThatIsGoneIsADifference) {
  const TemporaryFolder folder;
  const auto file = record_of(folder);
  keep_told(file);
  {
    const store::Database database(file, {.access = store::Database::Access::write});
    database.run("UPDATE reading SET value = NULL, gap = 'failed: gone' WHERE seconds > 0");
  }
  EXPECT_EQ(recount(file), Recount::differs);
  EXPECT_THAT(text_of(file), HasSubstr("has no number now"));
}

TEST(Recompute, ChangesNothingInTheRecord) {
  const TemporaryFolder folder;
  const auto file = record_of(folder);
  keep_told(file);
  const auto before = store::Reader(file).rows<store::Setting>();
  text_of(file);
  EXPECT_EQ(store::Reader(file).rows<store::Setting>(), before);
}

TEST(Recompute, ARecordThatCannotBeAmendedIsToldInALine) {
  const TemporaryFolder folder;
  EXPECT_THAT(keep_told(folder.path() / "none.db"), HasSubstr("are not kept: "));
}

}  // namespace
}  // namespace parajoule::cli
