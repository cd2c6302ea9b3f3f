#include "base/seed.h"

#include <array>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

// The first outputs of SplitMix64 for seed 0, as its other implementations print them.
TEST(Stream, OfNoKeyIsSplitMixOfZero) {
  Stream stream({});
  EXPECT_EQ(stream(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(stream(), 0x6e789e6aa1b965f4U);
  EXPECT_EQ(stream(), 0x06c45d188009454fU);
  EXPECT_EQ(stream(), 0xf88bb8a8724c81ecU);
}

// Records and checkpoints depend on these: they must never change. Computed apart from this code.
TEST(Stream, NumbersOfAKeyArePromised) {
  Stream stream{1, 2, 3};
  EXPECT_EQ(stream(), 16912481252337885688U);
  EXPECT_EQ(stream(), 18243478188283933094U);
  EXPECT_EQ(stream(), 15282079350297277789U);
}

TEST(Stream, KeysDifferInEveryWordAndInLength) {
  std::set<std::uint64_t> firsts;
  int keys = 0;
  for (std::uint64_t a = 0; a < 20; ++a)
    for (std::uint64_t b = 0; b < 20; ++b) {
      firsts.insert(Stream{a, b}());
      firsts.insert(Stream{a, b, 0}());
      keys += 2;
    }
  EXPECT_EQ(int(firsts.size()), keys);
}

TEST(Stream, PurposesDoNotShareNumbers) {
  EXPECT_NE(stream(5, Purpose::weights)(), stream(5, Purpose::order)());
  EXPECT_NE(stream(5, Purpose::order, 1)(), stream(5, Purpose::order, 0, 1)());
  EXPECT_EQ(stream(5, Purpose::order, 1, 2)(), (Stream{5, 2, 1, 2}()));
}

// Chi-square with 99 degrees of freedom: above 160 once in ten thousand.
TEST(Stream, UniformFillsItsCellsEvenly) {
  Stream stream{7};
  std::array<int, 100> cells{};
  constexpr int draws = 100000;
  for (int i = 0; i < draws; ++i) {
    const double value = stream.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    ++cells[std::size_t(value * 100)];
  }
  double chi_square = 0;
  for (int count : cells) chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi_square, 160);
  EXPECT_GT(chi_square, 50);
}

// By remainder, the lowest third of 3 * 2^62 would come up twice as often as the others.
TEST(Stream, BelowIsUnbiased) {
  constexpr std::uint64_t count = std::uint64_t{3} << 62;
  Stream stream{8};
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30000; ++i) ++thirds.at(stream.below(count) >> 62);
  for (int third : thirds) EXPECT_NEAR(third, 10000, 400);
}

TEST(Stream, BelowReachesAllAndNoMore) {
  Stream stream{9};
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(stream.below(7));
  for (int count : seen) EXPECT_NEAR(count, 1000, 150);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(stream.below(1), 0U);
}

TEST(Stream, NormalHasItsMoments) {
  Stream stream{10};
  double first = 0;
  double second = 0;
  double fourth = 0;
  constexpr int draws = 200000;
  for (int i = 0; i < draws; ++i) {
    const double x = stream.normal();
    ASSERT_TRUE(std::isfinite(x));
    first += x / draws;
    second += x * x / draws;
    fourth += x * x * x * x / draws;
  }
  EXPECT_NEAR(first, 0, 0.01);
  EXPECT_NEAR(second, 1, 0.02);
  EXPECT_NEAR(fourth, 3, 0.15);
}

}  // namespace
}  // namespace parajoule::base
