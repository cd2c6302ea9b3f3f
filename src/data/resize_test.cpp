#include "data/resize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"
#include "data/made_pictures.h"

namespace parajoule::data {
namespace {

using Floats = std::vector<float>;

/// Values as they are, 0 ... 255.
const Normalisation as_is{.channels = {{}, {}, {}}};

/// All pixels of a picture, as a decoder would give them.
struct Whole {
  std::vector<std::uint8_t> pixels;
  Part part;
  explicit Whole(const Picture& picture) : pixels(picture.pixels) {
    pixels.resize(pixels.size() + 16);
    part = {.box = {.width = picture.width, .height = picture.height}, .pixels = pixels};
  }
};

Floats resized_picture(const Part& part, const Window& window, Axes axes = Axes::channels_first,
                       const Normalisation& normalisation = as_is) {
  Floats out(std::size_t(window.rows.size) * std::size_t(window.columns.size) * 3);
  Floats row;
  resize(part, window, row, {out, axes, normalisation});
  return out;
}

/// How much pixel `i` of an axis counts in output pixel `k`, before the sum is made 1.
double weight(const Axis& axis, int k, int i) {
  if (i < axis.first || i >= axis.last) return 0;
  const double centre = axis.begin + (k + 0.5) * axis.step;
  return std::max(0.0, 1 - std::abs(i + 0.5 - centre) / std::max(1.0, axis.step));
}

/// One output value by its definition: a mean over the whole picture, in two dimensions at once.
double mean(const Picture& picture, const Window& window, std::array<int, 3> at) {
  const auto [y, x, c] = at;
  double sum = 0, weights = 0;
  for (int i = 0; i < picture.height; ++i)
    for (int j = 0; j < picture.width; ++j) {
      const double both = weight(window.rows, y, i) * weight(window.columns, x, j);
      sum += both * picture.pixels[std::size_t((i * picture.width + j) * 3 + c)];
      weights += both;
    }
  return sum / weights;
}

void expect_means(const Picture& picture, const Window& window) {
  const Whole whole(picture);
  const Floats got = resized_picture(whole.part, window);
  const int rows = window.rows.size, columns = window.columns.size;
  for (int c = 0; c < 3; ++c)
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x)
        ASSERT_NEAR(got[std::size_t((c * rows + y) * columns + x)],
                    mean(picture, window, {y, x, c}), 1e-3)
            << c << ", " << y << ", " << x;
}

TEST(Resize, IsTheMeanUnderATriangle) {
  const Picture picture = made::photograph(37, 29);
  base::Stream stream{9};
  for (int i = 0; i < 12; ++i) {
    Box box{.left = int(stream.below(37)), .top = int(stream.below(29))};
    box.width = 1 + int(stream.below(std::uint64_t(37 - box.left)));
    box.height = 1 + int(stream.below(std::uint64_t(29 - box.top)));
    expect_means(picture, resized(box, 1 + int(stream.below(20)), 1 + int(stream.below(20))));
  }
}

TEST(Resize, LooksBeyondTheWindowWhereThatIsAllowed) {
  const Picture picture = made::photograph(40, 30);
  expect_means(picture, {.rows = {.begin = 5.5, .step = 1.7, .size = 9, .first = 0, .last = 30},
                         .columns = {.begin = 8, .step = 2.2, .size = 9, .first = 0, .last = 40}});
}

TEST(Resize, TheSameSizeIsTheSamePicture) {
  const Picture picture = made::photograph(24, 18);
  const Whole whole(picture);
  const Floats got = resized_picture(whole.part, resized({.width = 24, .height = 18}, 18, 24),
                                     Axes::channels_last);
  EXPECT_TRUE(std::equal(got.begin(), got.end(), picture.pixels.begin(), picture.pixels.end()));
}

TEST(Resize, MirroringAndAxesMoveValuesOnly) {
  const Whole whole(made::photograph(50, 40));
  Window window = resized({3, 4, 41, 30}, 12, 16);
  const Floats straight = resized_picture(whole.part, window);
  const Floats last = resized_picture(whole.part, window, Axes::channels_last);
  window.mirrored = true;
  const Floats mirrored = resized_picture(whole.part, window);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t y = 0; y < 12; ++y)
      for (std::size_t x = 0; x < 16; ++x) {
        const float value = straight[(c * 12 + y) * 16 + x];
        ASSERT_EQ(mirrored[(c * 12 + y) * 16 + 15 - x], value);
        ASSERT_EQ(last[(y * 16 + x) * 3 + c], value);
      }
}

TEST(Resize, NormalisesEachChannel) {
  const Whole whole(made::plain(9, 9, {255, 0, 51}));
  const Normalisation normalisation{
      .channels = {{1 / 255.0f, 0}, {1 / 255.0f, -0.5f}, {2 / 255.0f, 1}}};
  const Floats got = resized_picture(whole.part, resized({.width = 9, .height = 9}, 2, 2),
                                     Axes::channels_last, normalisation);
  for (std::size_t i = 0; i < got.size(); i += 3) {
    EXPECT_NEAR(got[i], 1, 1e-6);
    EXPECT_NEAR(got[i + 1], -0.5, 1e-6);
    EXPECT_NEAR(got[i + 2], 1.4, 1e-6);
  }
}

TEST(Resize, APartWithoutWhatTheWindowShowsIsABug) {
  Whole whole(made::plain(9, 9, {1, 2, 3}));
  EXPECT_THROW(resized_picture(whole.part, resized({.left = 5, .width = 9, .height = 9}, 4, 4)),
               base::Error);
}

TEST(Resize, SeesNoMoreThanItLooksAt) {
  EXPECT_EQ(seen(resized({3, 4, 50, 60}, 20, 20)), (Box{3, 4, 50, 60}));
  const Axis axis{.begin = 10, .step = 2, .size = 5, .first = 0, .last = 100};
  EXPECT_EQ(seen({.rows = axis, .columns = axis}), (Box{9, 9, 12, 12}));
}

TEST(Resize, ADecoderMayShrinkWhatIsResizedMuchMore) {
  EXPECT_EQ(shrink_for(resized({.width = 500, .height = 375}, 224, 224)), 1);
  EXPECT_EQ(shrink_for(resized({.width = 1120, .height = 1119}, 224, 224)), 1);
  EXPECT_EQ(shrink_for(resized({.width = 1120, .height = 1120}, 224, 224)), 2);
  EXPECT_EQ(shrink_for(resized({.width = 4000, .height = 2300}, 224, 224)), 4);
  EXPECT_EQ(shrink_for(resized({.width = 9000, .height = 9000}, 224, 224)), 8);
}

TEST(Resize, WhatTheDecoderShrankDiffersByLessThanOneOf255OnAverage) {
  for (const int factor : {2, 4, 8}) {
    const int side = 80 * factor;
    const made::Bytes bytes = made::jpeg(made::photograph(side, side), {.across = 2, .down = 2});
    const Box box{.width = side, .height = side};
    const Window window = resized(box, 32, 32);
    ASSERT_EQ(shrink_for(window), factor);
    PixelMemory memory;
    const Floats whole = resized_picture(open_picture(bytes)->decode(box, 1, memory), window);
    const Floats shrunk = resized_picture(open_picture(bytes)->decode(box, factor, memory), window);
    double sum = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) sum += std::abs(whole[i] - shrunk[i]);
    EXPECT_LT(sum / double(whole.size()), 1) << factor;
    EXPECT_GT(sum, 0) << "they are not made the same way";
  }
}

}  // namespace
}  // namespace parajoule::data
