#include "train/agreement.h"

#include <gtest/gtest.h>

#include "comm/threads.h"

namespace parajoule::train {
namespace {

Standing said(int rank, int step) {
  return {.samples = 1,
          .loss = double(step),
          .wrong = double(rank),
          .stop = double(rank == 1 && step == 3),
          .not_a_number = double(rank == 2 && step == 4)};
}

TEST(Agreement, EveryRankLearnsTheSameAsManyStepsLater) {
  for (const std::int64_t drift : {0, 1, 3}) {
    comm::Threads(3).run([drift](comm::Communicator& group) {
      Agreement agreement(group, drift);
      std::vector<Standing> learnt;
      for (int step = 0; step < 6; ++step) {
        const auto sum = agreement.say(said(group.rank(), step));
        EXPECT_EQ(sum.has_value(), step >= drift);
        if (sum) learnt.push_back(*sum);
      }
      for (const Standing& sum : agreement.drain()) learnt.push_back(sum);
      ASSERT_EQ(learnt.size(), 6u);
      EXPECT_TRUE(agreement.drain().empty());
      for (int step = 0; step < 6; ++step) {
        EXPECT_EQ(learnt[step].samples, 3);
        EXPECT_EQ(learnt[step].loss, 3 * step);
        EXPECT_EQ(learnt[step].wrong, 0 + 1 + 2);
        EXPECT_EQ(learnt[step].stop, step == 3);
        EXPECT_EQ(learnt[step].not_a_number, step == 4);
      }
    });
  }
}

}  // namespace
}  // namespace parajoule::train
