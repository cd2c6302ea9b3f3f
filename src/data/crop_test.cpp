#include "data/crop.h"

#include <cmath>

#include <gtest/gtest.h>

namespace parajoule::data {
namespace {

TEST(RandomCrop, LiesInThePictureWithTheScaleAndRatioAllowed) {
  const RandomCrop allowed{.least_scale = 0.2, .most_scale = 0.6};
  double area = 0;
  constexpr int draws = 2000;
  for (std::uint64_t i = 0; i < draws; ++i) {
    base::Stream stream{i};
    const Box box = random_crop(500, 375, allowed, stream);
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.right(), 500);
    ASSERT_LE(box.bottom(), 375);
    const double scale = double(box.width) * box.height / (500.0 * 375);
    const double ratio = double(box.width) / box.height;
    ASSERT_GT(scale, 0.195);
    ASSERT_LT(scale, 0.605);
    ASSERT_GT(ratio, 0.74);
    ASSERT_LT(ratio, 1.35);
    area += scale / draws;
  }
  EXPECT_NEAR(area, 0.4, 0.02);
}

TEST(RandomCrop, TheWholeIsTakenWhenOnlyTheWholeWillDo) {
  base::Stream stream{1};
  EXPECT_EQ(random_crop(300, 300, {.least_scale = 1, .least_ratio = 1, .most_ratio = 1}, stream),
            (Box{0, 0, 300, 300}));
}

TEST(RandomCrop, WhatNeverFitsIsTakenFromTheMiddle) {
  base::Stream stream{1};
  const RandomCrop all{.least_scale = 1};
  EXPECT_EQ(random_crop(900, 90, all, stream), (Box{390, 0, 120, 90}));
  EXPECT_EQ(random_crop(90, 900, all, stream), (Box{0, 390, 90, 120}));
  EXPECT_EQ(random_crop(20000, 1, all, stream), (Box{9999, 0, 1, 1}));
  EXPECT_EQ(random_crop(1, 1, all, stream), (Box{0, 0, 1, 1}));
}

TEST(CentralSquare, IsTheMiddleOfTheResizedPicture) {
  const Window window = central(500, 375, 256, 224);
  // the picture becomes 341 x 256
  EXPECT_DOUBLE_EQ(window.columns.step, 500.0 / 341);
  EXPECT_DOUBLE_EQ(window.rows.step, 375.0 / 256);
  EXPECT_DOUBLE_EQ(window.columns.begin, 58 * 500.0 / 341);
  EXPECT_DOUBLE_EQ(window.rows.begin, 16 * 375.0 / 256);
  EXPECT_EQ(window.columns.size, 224);
  EXPECT_EQ(window.rows.last, 375);
}

TEST(CentralSquare, OfTheNarrowestPictureIsWithinIt) {
  for (const auto& [width, height] : {std::pair{100'000'000, 1}, {1, 100'000'000}, {1, 1}}) {
    const Box box = seen(central(width, height, 256, 224));
    EXPECT_GE(box.left, 0);
    EXPECT_GE(box.width, 1);
    EXPECT_LE(box.right(), width);
    EXPECT_GE(box.top, 0);
    EXPECT_GE(box.height, 1);
    EXPECT_LE(box.bottom(), height);
  }
}

}  // namespace
}  // namespace parajoule::data
