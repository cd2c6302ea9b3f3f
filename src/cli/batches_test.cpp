#include "cli/batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::cli {
namespace {

using testing::HasSubstr;

std::string refusal(const WishedBatches& wished, std::int64_t training) {
  try {
    resolve_batches(wished, training);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    return error.what();
  }
  return "";
}

TEST(Batches, OneGivesTheOther) {
  for (std::int64_t training = 1; training < 9; ++training) {
    const BatchSizes from_local = resolve_batches({.local = 7, .global = {}}, training);
    EXPECT_EQ(from_local.global, 7 * training);
    const BatchSizes from_global = resolve_batches({.local = {}, .global = 7 * training}, training);
    EXPECT_EQ(from_global.local, 7);
    const BatchSizes both = resolve_batches({.local = 7, .global = 7 * training}, training);
    EXPECT_EQ(both.local, 7);
  }
}

TEST(Batches, NeitherMeansTheUsualLocalOne) {
  EXPECT_EQ(resolve_batches({}, 3).local, 64);
  EXPECT_EQ(resolve_batches({}, 3).global, 192);
}

TEST(Batches, AGlobalOneThatRanksDoNotDivideNamesItsNeighbours) {
  const std::string line = refusal({.local = {}, .global = 100}, 3);
  EXPECT_THAT(line, HasSubstr("global_batch_size = 100"));
  EXPECT_THAT(line, HasSubstr("3 ranks"));
  EXPECT_THAT(line, HasSubstr("99 or 102"));
}

TEST(Batches, TwoThatDisagreeAreRefused) {
  const std::string line = refusal({.local = 10, .global = 40}, 2);
  EXPECT_THAT(line, HasSubstr("global_batch_size = 40"));
  EXPECT_THAT(line, HasSubstr("local_batch_size = 10"));
}

}  // namespace
}  // namespace parajoule::cli
