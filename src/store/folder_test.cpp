#include "store/folder.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "store/test_record.h"

namespace parajoule::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Folder : public testing::Test {
 protected:
  std::filesystem::path put(const std::string& name) const {
    std::ofstream(folder_.path() / name) << "";
    return folder_.path() / name;
  }
  std::string said_of(std::string_view wanted) const {
    try {
      return find_record(folder_.path(), wanted);
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage);
      return error.what();
    }
  }
  const TemporaryFolder folder_;
  const std::filesystem::path first_ = put("20251130T101112Z-mlp-abcdefgh.db");
  const std::filesystem::path third_ = put("20251201T000000Z-a-run-of-mine-abxyzzzz.db");
  const std::filesystem::path second_ = put("20251130T101113Z-resnet-50-qrstuvwx.db");
};

TEST_F(Folder, ListsRecordsNewestFirst) {
  put("notes.txt");
  put("abcdefgh.1.db");
  put("20251130T101112Z-mlp-abcdefgh.db-wal");
  EXPECT_THAT(records_in(folder_.path()), ElementsAre(third_, second_, first_));
}

TEST_F(Folder, ListsNamesWithPoints) {
  const auto named = put("20250101T000000Z-v0.2-abcdefgh.db");
  EXPECT_THAT(records_in(folder_.path()), ElementsAre(third_, second_, first_, named));
}

TEST_F(Folder, ThatIsNotThereHasNone) { EXPECT_THAT(records_in("/no/such/folder"), IsEmpty()); }

TEST_F(Folder, FindsARecordByItsIdOrItsBeginning) {
  EXPECT_EQ(said_of("qrstuvwx"), second_);
  EXPECT_EQ(said_of("q"), second_);
  EXPECT_EQ(said_of("abc"), first_);
  EXPECT_EQ(said_of("last"), third_);
}

TEST_F(Folder, TakesAPathAsItIs) {
  EXPECT_EQ(said_of("elsewhere/some.db"), "elsewhere/some.db");
  EXPECT_EQ(said_of("some.db"), "some.db");
  EXPECT_EQ(said_of("./some"), "./some");
}

TEST_F(Folder, SaysWhichRecordsABeginningCouldMean) {
  EXPECT_EQ(said_of("ab"), "'ab' begins the ids of 2 records: abxyzzzz, abcdefgh");
}

TEST_F(Folder, SaysThatThereIsNone) {
  EXPECT_THAT(said_of("zzz"), HasSubstr("there is no record 'zzz' in the folder"));
  EXPECT_THAT(said_of(""), HasSubstr("there is no record ''"));
  const TemporaryFolder empty;
  EXPECT_THROW(find_record(empty.path(), "last"), base::Error);
}

}  // namespace
}  // namespace parajoule::store
