#include "meter/amd_visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> four = {"GPU-00000000000000a0", "GPU-00000000000000a1",
                                       "GPU-00000000000000a2", "GPU-00000000000000a3"};
using Text = std::optional<std::string_view>;

std::vector<std::size_t> seen(Text rocr, Text hip) {
  return visible_amd_gpus(rocr, hip, four).gpus;
}

TEST(AmdVisible, WithoutTextsAllAreAndOfAnEmptyTextNone) {
  EXPECT_THAT(seen({}, {}), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(seen("", {}), IsEmpty());
  EXPECT_THAT(seen({}, ""), IsEmpty());
}

TEST(AmdVisible, TakesNumbersAndNames) {
  EXPECT_THAT(seen("2,0", {}), ElementsAre(2, 0));
  EXPECT_THAT(seen({}, "1"), ElementsAre(1));
  EXPECT_THAT(seen("GPU-00000000000000A3, 1", {}), ElementsAre(3, 1));
  EXPECT_THAT(seen({}, "GPU-00000000000000a2"), ElementsAre(2));
  EXPECT_THAT(seen("1,1", {}), ElementsAre(1));
}

TEST(AmdVisible, HipNumbersWhatRocrLeaves) {
  EXPECT_THAT(seen("3,1", "0"), ElementsAre(3));
  EXPECT_THAT(seen("3,1", "1,0"), ElementsAre(1, 3));
  EXPECT_THAT(seen("3,1", "2"), IsEmpty());
  EXPECT_THAT(seen("3,1", "GPU-00000000000000a1"), ElementsAre(1));
  EXPECT_THAT(seen("3,1", "GPU-00000000000000a0"), IsEmpty());
}

TEST(AmdVisible, HidesTheFirstUnknownWordAndAllAfterItAndSaysWhich) {
  for (const char* text : {"0,4,1", "0,-1,1", "0,one", "0,1gpu", "0,GPU-77,1", "0,,1"})
    EXPECT_THAT(seen(text, {}), ElementsAre(0)) << text;
  EXPECT_THAT(visible_amd_gpus("0,4,1", {}, four).remarks,
              ElementsAre(HasSubstr("ROCR_VISIBLE_DEVICES: '4' in '0,4,1' names no GPU")));
  EXPECT_THAT(visible_amd_gpus({}, "9", four).remarks, ElementsAre(HasSubstr("HIP_VISIBLE")));
}

}  // namespace
}  // namespace parajoule::meter
