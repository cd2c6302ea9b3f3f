#include "meter/cuda_visible.h"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::meter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<GpuNames> four = {
    {"GPU-8932f937-d72c-4106-c12f-20bd9faed9f6", {}},
    {"GPU-8932aaaa-0000-4106-c12f-20bd9faed9f6", {}},
    {"GPU-11111111-0000-4106-c12f-20bd9faed9f6",
     {"MIG-aaaa0000-1111-2222-3333-444444444444", "MIG-aabb0000-1111-2222-3333-444444444444"}},
    {"GPU-22222222-0000-4106-c12f-20bd9faed9f6", {}},
};

std::vector<std::size_t> seen(std::string_view text) { return visible_gpus(text, four).gpus; }

TEST(CudaVisible, TakesIndices) {
  EXPECT_THAT(seen("3"), ElementsAre(3));
  EXPECT_THAT(seen("2,1"), ElementsAre(1, 2));
  EXPECT_THAT(seen(" 0 , 3 "), ElementsAre(0, 3));
  EXPECT_THAT(visible_gpus("0,3", four).remarks, IsEmpty());
}

TEST(CudaVisible, ReadsNumbersTheWayStrtoulDoes) {
  EXPECT_THAT(seen("1gpu2,2ampere"), ElementsAre(1, 2));
  EXPECT_THAT(seen("+1,02"), ElementsAre(1, 2));
}

TEST(CudaVisible, HidesTheFirstInvalidWordAndAllAfterIt) {
  EXPECT_THAT(seen("0,2,-1,1"), ElementsAre(0, 2));
  EXPECT_THAT(seen("0,4,1"), ElementsAre(0));
  EXPECT_THAT(seen("0,,1"), ElementsAre(0));
  EXPECT_THAT(seen("0,1,"), ElementsAre(0, 1));
  EXPECT_THAT(seen("-1"), IsEmpty());
  EXPECT_THAT(seen("none"), IsEmpty());
  EXPECT_THAT(seen("NoDevFiles"), IsEmpty());
  EXPECT_THAT(seen("99999999999999999999999"), IsEmpty());
  EXPECT_THAT(visible_gpus("0,4,1", four).remarks, ElementsAre(HasSubstr("'4' in '0,4,1'")));
}

TEST(CudaVisible, EmptyMeansNoGpu) {
  EXPECT_THAT(seen(""), IsEmpty());
  EXPECT_THAT(seen("  "), IsEmpty());
}

TEST(CudaVisible, TakesUuidsAndBeginningsThatFitOneOnly) {
  EXPECT_THAT(seen("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"), ElementsAre(0));
  EXPECT_THAT(seen("GPU-8932F9"), ElementsAre(0));
  EXPECT_THAT(seen("GPU-2,GPU-8932a"), ElementsAre(1, 3));
  EXPECT_THAT(seen("GPU-8932"), IsEmpty());
  EXPECT_THAT(seen("GPU-2,GPU-8932,GPU-1"), ElementsAre(3));
  EXPECT_THAT(seen("GPU-77"), IsEmpty());
  EXPECT_THAT(seen("GPU-"), IsEmpty());
  EXPECT_THAT(seen("GPU-22222222-0000-4106-c12f-20bd9faed9f6-and-more"), IsEmpty());
}

TEST(CudaVisible, StopsAtAWordOfAnotherKind) {
  EXPECT_THAT(seen("0,GPU-2"), ElementsAre(0));
  EXPECT_THAT(seen("GPU-2,0"), ElementsAre(3));
  EXPECT_THAT(seen("MIG-aaaa,GPU-2"), ElementsAre(2));
}

TEST(CudaVisible, AWordGivenTwiceLeavesNone) {
  EXPECT_THAT(seen("0,1,1"), IsEmpty());
  EXPECT_THAT(seen("1,01"), IsEmpty());
  EXPECT_THAT(seen("GPU-2,GPU-2222"), IsEmpty());
  EXPECT_THAT(visible_gpus("1,1", four).remarks, ElementsAre(HasSubstr("twice")));
}

TEST(CudaVisible, OfMigInstancesTheWholeGpuIsMeteredOnce) {
  EXPECT_THAT(seen("MIG-aaaa0000-1111-2222-3333-444444444444"), ElementsAre(2));
  EXPECT_THAT(seen("MIG-aaaa,MIG-aabb"), ElementsAre(2));
  EXPECT_THAT(seen("MIG-aa"), IsEmpty());
  EXPECT_THAT(seen("MIG-"), IsEmpty());
  EXPECT_THAT(seen("MIG-GPU-11111111-0000-4106-c12f-20bd9faed9f6/1/0"), ElementsAre(2));
  EXPECT_THAT(seen("MIG-GPU-11111111-0000-4106-c12f-20bd9faed9f6/1/0,"
                   "MIG-GPU-11111111-0000-4106-c12f-20bd9faed9f6/2/0"),
              ElementsAre(2));
  EXPECT_THAT(seen("MIG-GPU-99/1/0"), IsEmpty());
}

TEST(CudaVisible, AnyTextGivesPlacesInTheListOnceAndInOrder) {
  const std::string letters = "0123,-+ GPUMIGabf/8932";
  base::Stream random{17};
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(24); n > 0; --n)
      text += letters[random.below(letters.size())];
    const VisibleGpus visible = visible_gpus(text, four);
    ASSERT_TRUE(std::ranges::is_sorted(visible.gpus)) << text;
    ASSERT_EQ(std::ranges::adjacent_find(visible.gpus), visible.gpus.end()) << text;
    ASSERT_TRUE(std::ranges::all_of(visible.gpus, [](std::size_t gpu) { return gpu < 4; })) << text;
    ASSERT_LE(visible.remarks.size(), 1u) << text;
  }
}

TEST(CudaVisible, WithoutGpusNothingIsVisible) {
  EXPECT_THAT(visible_gpus("0", {}).gpus, IsEmpty());
  EXPECT_THAT(visible_gpus("GPU-1", {}).gpus, IsEmpty());
}

}  // namespace
}  // namespace parajoule::meter
