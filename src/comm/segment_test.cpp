#include "comm/segment.h"

#include <gtest/gtest.h>

namespace parajoule::comm {
namespace {

constexpr std::size_t mebibyte = std::size_t(1) << 20;

TEST(Segment, OfAllRanksTakeAQuarterOfTheAddressesAtMost) {
  constexpr std::size_t limit = 8000 * mebibyte;
  EXPECT_EQ(within(limit, 23552 * mebibyte, 1), 2000 * mebibyte);
  EXPECT_EQ(within(limit, 4096 * mebibyte, 4), 500 * mebibyte);
  EXPECT_EQ(within(limit + 3, 4096 * mebibyte, 3), 666 * mebibyte);  // whole mebibytes
}

TEST(Segment, IsNoLargerThanWanted) {
  EXPECT_EQ(within(std::size_t(1) << 46, 4096 * mebibyte, 4), 4096 * mebibyte);
}

TEST(Segment, HasWhatARankNeedsToBegin) {
  EXPECT_EQ(within(100 * mebibyte, 4096 * mebibyte, 64), 16 * mebibyte);
}

}  // namespace
}  // namespace parajoule::comm
