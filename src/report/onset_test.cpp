#include "report/onset.h"

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

AtBatch at(double batch, double error, int repeats = 5) {
  return {batch, {.mean = error, .deviation = 0.2, .count = repeats}};
}

TEST(Onset, IsWhereAllFromThereOnAreWorse) {
  // 0.2 over five repeats: 2.31 standard errors are 0.29; 3.5 more is far outside of chance.
  const auto found = degradation({at(256, 28), at(8192, 28.1), at(16384, 31.5), at(65536, 40)});
  EXPECT_EQ(found.tested, 3);
  ASSERT_TRUE(found.onset);
  EXPECT_EQ(found.onset->global_batch_size, 16384);
  EXPECT_NEAR(found.onset->worse_by, 3.5, 1e-12);
}

TEST(Onset, IsNotABatchThatIsWorseAmongEqualOnes) {
  EXPECT_FALSE(degradation({at(256, 28), at(8192, 31), at(16384, 28.1)}).onset);
  EXPECT_FALSE(degradation({at(256, 28), at(512, 25), at(1024, 24)}).onset);  // better
}

TEST(Onset, CountsSeveralTestsAsSeveral) {
  // Welch with eight degrees: 0.26 more is t = 2.055, one-sided p = 0.037; of three, 0.11.
  EXPECT_TRUE(degradation({at(1, 28), at(2, 28.26)}).onset);
  EXPECT_FALSE(degradation({at(1, 28), at(2, 28), at(3, 28), at(4, 28.26)}).onset);
}

TEST(Onset, SaysNothingWithoutRepeats) {
  const auto found = degradation({at(256, 28, 1), at(65536, 80, 1)});
  EXPECT_EQ(found.tested, 0);
  EXPECT_FALSE(found.onset);
}

}  // namespace
}  // namespace parajoule::report
