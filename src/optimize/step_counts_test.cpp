#include "optimize/step_counts.h"

#include <span>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"

namespace parajoule::optimize {
namespace {

using Counted = StepCounts::Counted;

TEST(StepCounts, StayOneRangeWhenAllTakePart) {
  StepCounts counts(10);
  EXPECT_EQ(counts.advance({0, 10}), (std::vector<Counted>{{{0, 10}, 1}}));
  EXPECT_EQ(counts.advance({0, 10}), (std::vector<Counted>{{{0, 10}, 2}}));
  EXPECT_EQ(counts.advance({4, 10}), (std::vector<Counted>{{{4, 10}, 3}}));
  EXPECT_EQ(counts.advance({0, 4}), (std::vector<Counted>{{{0, 4}, 3}}));
  EXPECT_EQ(counts.all(), (std::vector<Counted>{{{0, 10}, 3}}));
}

TEST(StepCounts, NothingIsNoStep) {
  StepCounts counts(10);
  EXPECT_TRUE(counts.advance({3, 3}).empty());
  EXPECT_EQ(counts.all(), (std::vector<Counted>{{{0, 10}, 0}}));
  StepCounts none(0);
  EXPECT_TRUE(none.advance({0, 0}).empty());
}

// Against a plain count for each element, over random ranges.
TEST(StepCounts, AreThoseOfEachElement) {
  base::Stream stream{3};
  StepCounts counts(50);
  std::vector<std::int64_t> plain(50);
  for (int turn = 0; turn < 500; ++turn) {
    const std::size_t begin = stream.below(51);
    const std::size_t end = begin + stream.below(51 - begin);
    std::size_t reached = begin;
    for (std::size_t i = begin; i < end; ++i) ++plain[i];
    for (const Counted& part : counts.advance({begin, end})) {
      EXPECT_EQ(part.range.begin, reached);
      reached = part.range.end;
      for (std::size_t i = part.range.begin; i < part.range.end; ++i)
        ASSERT_EQ(plain[i], part.steps);
    }
    EXPECT_EQ(reached, begin == end ? begin : end);
    std::optional<std::int64_t> before;
    for (const Counted& part : counts.all()) {
      EXPECT_NE(before, part.steps) << "neighbours of equal counts are one range";
      before = part.steps;
    }
  }
}

TEST(StepCounts, ComeBackFromAnArchive) {
  StepCounts counts(10);
  counts.advance({2, 7});
  counts.advance({4, 10});
  base::Archive archive;
  counts.save(archive);
  StepCounts loaded(10);
  loaded.load(archive);
  EXPECT_EQ(loaded.all(), counts.all());
}

TEST(StepCounts, ADamagedArchiveIsRefused) {
  for (const std::vector<std::int64_t>& begins :
       {std::vector<std::int64_t>{1, 2}, {0, 0}, {0, 10}, {0, -1}}) {
    std::vector<std::int64_t> copy = begins;
    base::Archive archive;
    archive.put("step_ranges", std::int64_t{2});
    archive.put("step_begins", base::Vector(std::span(copy)));
    archive.put("steps", base::Vector(std::span(copy)));
    StepCounts counts(10);
    EXPECT_THROW(counts.load(archive), base::Error);
    EXPECT_EQ(counts.all(), (std::vector<Counted>{{{0, 10}, 0}}));
  }
}

}  // namespace
}  // namespace parajoule::optimize
