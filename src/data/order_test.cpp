#include "data/order.h"

#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace parajoule::data {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers counted(std::int64_t count) {
  Numbers numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

Numbers sorted(Numbers numbers) {
  std::ranges::sort(numbers);
  return numbers;
}

/// What all ranks together read in each step.
std::vector<Numbers> by_step(std::int64_t samples, std::int64_t global_batch_size, int ranks) {
  std::vector<Numbers> steps;
  for (int rank = 0; rank < ranks; ++rank) {
    const Pass pass = training_pass(
        {.samples = samples, .global_batch_size = global_batch_size, .ranks = ranks, .rank = rank},
        7, 3);
    steps.resize(pass.batches.size());
    for (std::size_t t = 0; t < pass.batches.size(); ++t) {
      EXPECT_EQ(pass.batches[t].number, std::int64_t(t));
      const base::Range range = pass.batches[t].range;
      for (std::size_t i = range.begin; i < range.end; ++i) steps[t].push_back(pass.samples[i]);
    }
  }
  return steps;
}

TEST(Order, IsAPermutationThatChangesWithSeedAndEpochAlone) {
  const Numbers first = order(1000, 1, 0);
  EXPECT_EQ(sorted(first), counted(1000));
  EXPECT_EQ(order(1000, 1, 0), first);
  EXPECT_NE(order(1000, 1, 1), first);
  EXPECT_NE(order(1000, 2, 0), first);
  EXPECT_TRUE(order(0, 1, 0).empty());
}

TEST(Order, EveryOrderOfThreeIsAsLikely) {
  std::map<Numbers, int> seen;
  constexpr int draws = 6000;
  for (int epoch = 0; epoch < draws; ++epoch) ++seen[order(3, 5, epoch)];
  EXPECT_EQ(seen.size(), 6u);
  // 1000 of each expected, deviation 29: five deviations
  for (const auto& [numbers, count] : seen) EXPECT_NEAR(count, 1000, 145);
}

class Sharing : public testing::TestWithParam<int> {};

TEST_P(Sharing, EachSampleIsReadOnceAndAllRanksTakeTheSameSteps) {
  const int ranks = GetParam();
  for (std::int64_t samples = 1; samples <= 100; ++samples)
    for (std::int64_t local = 1; local <= 7; ++local) {
      const Shards shards{.samples = samples, .global_batch_size = local * ranks, .ranks = ranks};
      Numbers read;
      for (int rank = 0; rank < ranks; ++rank) {
        Shards own = shards;
        own.rank = rank;
        const Pass pass = training_pass(own, 11, 2);
        ASSERT_EQ(std::int64_t(pass.batches.size()), shards.steps());
        read.insert(read.end(), pass.samples.begin(), pass.samples.end());
        for (const Pass::Batch& batch : pass.batches) {
          ASSERT_LE(std::int64_t(batch.range.size()), local);
          const bool last = batch.number == shards.steps() - 1;
          ASSERT_TRUE(last || std::int64_t(batch.range.size()) == local);
        }
      }
      ASSERT_EQ(sorted(read), counted(samples)) << samples << " samples, batches of " << local;
    }
}

TEST_P(Sharing, TheLastStepIsSplitAsEvenlyAsCanBe) {
  const int ranks = GetParam();
  for (std::int64_t samples = 1; samples <= 60; ++samples) {
    Shards shards{.samples = samples, .global_batch_size = 6 * ranks, .ranks = ranks};
    std::size_t least = samples, most = 0;
    for (shards.rank = 0; shards.rank < ranks; ++shards.rank) {
      const std::size_t share = shards.share(shards.steps() - 1).size();
      least = std::min(least, share);
      most = std::max(most, share);
    }
    EXPECT_LE(most - least, 1u);
  }
}

TEST_P(Sharing, OtherNumbersOfRanksTakeTheSameSamplesInTheSameSteps) {
  const int ranks = GetParam();
  const std::vector<Numbers> alone = by_step(101, 2520 / 90, 1);
  std::vector<Numbers> together = by_step(101, 2520 / 90, ranks);
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t t = 0; t < alone.size(); ++t) EXPECT_EQ(together[t], alone[t]);
}

TEST_P(Sharing, ChunksOfEvaluationAreTheSameForAnyNumberOfRanks) {
  const int ranks = GetParam();
  for (std::int64_t samples : {1, 9, 10, 11, 95, 100}) {
    std::map<std::int64_t, Numbers> chunks;
    for (int rank = 0; rank < ranks; ++rank) {
      const Pass pass = evaluation_pass(samples, 10, rank, ranks);
      for (const Pass::Batch& batch : pass.batches) {
        Numbers& chunk = chunks[batch.number];
        EXPECT_TRUE(chunk.empty());
        chunk.assign(pass.samples.begin() + std::ptrdiff_t(batch.range.begin),
                     pass.samples.begin() + std::ptrdiff_t(batch.range.end));
      }
    }
    Numbers all;
    for (const auto& [number, chunk] : chunks) {
      EXPECT_EQ(chunk.front(), number * 10);
      all.insert(all.end(), chunk.begin(), chunk.end());
    }
    EXPECT_EQ(all, counted(samples));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Sharing, testing::Range(1, 10));

/// Three ranks, of which the second takes one step of three.
Shards uneven(int rank, std::int64_t samples, std::int64_t before) {
  return {.samples = samples,
          .global_batch_size = 12,
          .ranks = 3,
          .rank = rank,
          .round = 3,
          .paces = {3, 1, 3},
          .before = before};
}

// Written out by hand: 4 samples for each rank that takes the step.
TEST(UnequalPaces, ASlowRankTakesTheLastStepOfEachRound) {
  using base::Range;
  const Shards slow = uneven(1, 40, 0);
  EXPECT_FALSE(slow.takes(0));
  EXPECT_FALSE(slow.takes(1));
  EXPECT_TRUE(slow.takes(2));
  EXPECT_EQ(slow.whole(0), (Range{0, 8}));
  EXPECT_EQ(slow.whole(1), (Range{8, 16}));
  EXPECT_EQ(slow.whole(2), (Range{16, 28}));
  EXPECT_EQ(slow.share(2), (Range{20, 24}));
  EXPECT_EQ(slow.share(0).size(), 0u);
  EXPECT_EQ(uneven(2, 40, 0).share(0), (Range{4, 8}));
  EXPECT_EQ(uneven(2, 40, 0).share(2), (Range{24, 28}));
  EXPECT_EQ(slow.whole(4), (Range{36, 40}));  // what is left, shared by the quick two
  EXPECT_EQ(uneven(0, 40, 0).share(4), (Range{36, 38}));
  EXPECT_EQ(slow.steps(), 5);
  // The round goes on in the next epoch, in whose first step all take part.
  EXPECT_TRUE(uneven(1, 40, 5).takes(0));
  EXPECT_EQ(uneven(1, 40, 5).share(0), (Range{4, 8}));
  EXPECT_EQ(uneven(1, 40, 5).own_steps(0), 1);
  EXPECT_EQ(uneven(1, 40, 5).own_steps(1), 2);
}

TEST(UnequalPaces, EachSampleIsReadOnceInEveryEpoch) {
  for (const std::vector<std::int64_t>& paces :
       {Numbers{3, 1, 3}, Numbers{7, 7, 2, 5}, Numbers{1, 32}, Numbers{10, 9}})
    for (std::int64_t samples = 1; samples <= 300; samples += samples < 50 ? 1 : 17)
      for (const std::int64_t global : {3, 8, 12}) {
        const int ranks = int(paces.size());
        Shards shards{.samples = samples,
                      .global_batch_size = global,
                      .ranks = ranks,
                      .round = std::ranges::max(paces),
                      .paces = paces};
        std::vector<std::int64_t> taken(paces.size());
        for (int epoch = 0; epoch < 3; ++epoch) {
          Numbers read;
          for (shards.rank = 0; shards.rank < ranks; ++shards.rank) {
            const Pass pass = training_pass(shards, 11, epoch);
            read.insert(read.end(), pass.samples.begin(), pass.samples.end());
            taken[std::size_t(shards.rank)] += std::int64_t(pass.batches.size());
            for (const Pass::Batch& batch : pass.batches)
              ASSERT_LE(std::int64_t(batch.range.size()), (global + ranks - 1) / ranks);
          }
          ASSERT_EQ(sorted(read), counted(samples)) << samples << " samples, batches of " << global;
          shards.before += shards.steps();
          for (std::size_t rank = 0; rank < paces.size(); ++rank)
            ASSERT_EQ(taken[rank], shards.before * paces[rank] / shards.round);
        }
      }
}

TEST(UnequalPaces, APassBeginsWithinAnEpochWhereTheWholePassWouldBe) {
  for (int rank = 0; rank < 3; ++rank) {
    const Pass whole = training_pass(uneven(rank, 100, 4), 1, 4);
    const Pass rest = training_pass(uneven(rank, 100, 4), 1, 4, 5);
    ASSERT_LT(rest.batches.size(), whole.batches.size());
    const std::size_t before = whole.batches.size() - rest.batches.size();
    for (std::size_t i = 0; i < rest.batches.size(); ++i)
      EXPECT_EQ(rest.batches[i].number, whole.batches[before + i].number);
    EXPECT_EQ(rest.samples, Numbers(whole.samples.end() - std::ptrdiff_t(rest.samples.size()),
                                    whole.samples.end()));
    EXPECT_GE(rest.batches.front().number, 5);
  }
}

TEST(Pass, BeginsWithinAnEpochWhereTheWholePassWouldBe) {
  const Shards shards{.samples = 53, .global_batch_size = 12, .ranks = 3, .rank = 1};
  const Pass whole = training_pass(shards, 1, 4);
  const Pass rest = training_pass(shards, 1, 4, 2);
  ASSERT_EQ(rest.batches.size(), whole.batches.size() - 2);
  EXPECT_EQ(rest.batches[0].number, 2);
  EXPECT_EQ(rest.samples, Numbers(whole.samples.begin() + 8, whole.samples.end()));
}

}  // namespace
}  // namespace parajoule::data
