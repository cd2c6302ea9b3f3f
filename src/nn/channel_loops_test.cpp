#include "nn/channel_loops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace parajoule::nn::channel_loops {
namespace {

/// Shapes around the edges of rows and blocks.
const std::vector<Pixels> shapes = {{1, 1},    {1, 7},    {2, 3},     {7, 16},   {300, 16},
                                    {5000, 3}, {33, 200}, {100, 129}, {17, 2048}};

template <class T>
std::vector<T> random(std::size_t count, unsigned seed, double mean = 0) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal(mean);
  std::vector<T> values(count);
  for (T& value : values) value = T(normal(engine));
  return values;
}

template <class T>
class ChannelLoops : public testing::Test {
 protected:
  static constexpr double tolerance = std::is_same_v<T, float> ? 2e-6 : 1e-13;
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(ChannelLoops, Types);

TYPED_TEST(ChannelLoops, MomentsAreThoseOfTwoPassesInDouble) {
  for (const Pixels pixels : shapes) {
    const auto x = random<TypeParam>(pixels.count * pixels.channels, 1, 3);
    Moments moments(pixels.channels);
    add(moments, x.data(), pixels);
    EXPECT_EQ(moments.count, double(pixels.count));
    for (std::size_t c = 0; c < pixels.channels; ++c) {
      double mean = 0, squares = 0;
      for (std::size_t i = 0; i < pixels.count; ++i) mean += double(x[i * pixels.channels + c]);
      mean /= double(pixels.count);
      for (std::size_t i = 0; i < pixels.count; ++i) {
        squares += std::pow(double(x[i * pixels.channels + c]) - mean, 2);
      }
      EXPECT_NEAR(moments.mean[c], mean, 10 * this->tolerance);
      EXPECT_NEAR(moments.squares[c], squares, 10 * this->tolerance * (1 + squares));
    }
  }
}

// A mean far from zero must not drown the distances from it.
TYPED_TEST(ChannelLoops, MomentsFarFromZeroKeepTheirVariance) {
  const Pixels pixels = {2000, 5};
  std::vector<TypeParam> x(pixels.count * pixels.channels);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = TypeParam(1000 + int(i / 5 % 2));
  Moments moments(pixels.channels);
  add(moments, x.data(), pixels);
  for (double squares : moments.squares) EXPECT_NEAR(squares / 2000, 0.25, 1e-3);
}

TYPED_TEST(ChannelLoops, MomentsOfPartsAddUpToThoseOfAll) {
  const auto x = random<TypeParam>(100 * 6, 2);
  Moments all(6), parts(6), second(6);
  add(all, x.data(), {100, 6});
  add(parts, x.data(), {37, 6});
  add(second, x.data() + 37 * 6, {63, 6});
  add(parts, second);
  add(parts, Moments(6));
  for (int c = 0; c < 6; ++c) {
    EXPECT_NEAR(parts.mean[c], all.mean[c], this->tolerance);
    EXPECT_NEAR(parts.squares[c], all.squares[c], 100 * this->tolerance);
  }
}

TYPED_TEST(ChannelLoops, ScaleDoesWhatItsFormulaSays) {
  using T = TypeParam;
  for (const Pixels pixels : shapes) {
    const std::size_t count = pixels.count * pixels.channels;
    const auto x = random<T>(count, 1), residual = random<T>(count, 2),
               scales = random<T>(pixels.channels, 3), shifts = random<T>(pixels.channels, 4);
    for (const T* beside : {static_cast<const T*>(nullptr), residual.data()}) {
      for (const Activation activation : {Activation::none, Activation::relu}) {
        std::vector<T> y(count);
        scale({x.data(), beside, y.data(), scales, shifts, activation}, pixels);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t c = i % pixels.channels;
          T expected = x[i] * scales[c] + shifts[c];
          if (beside != nullptr) expected += residual[i];
          if (activation == Activation::relu) expected = std::max(expected, T(0));
          ASSERT_EQ(y[i], expected) << "value " << i;
        }
      }
    }
  }
}

TYPED_TEST(ChannelLoops, WhatIsNotANumberStaysNone) {
  using T = TypeParam;
  const std::vector<T> x = {std::numeric_limits<T>::quiet_NaN()}, one = {1}, zero = {0};
  std::vector<T> y(1);
  scale({x.data(), nullptr, y.data(), one, zero, Activation::relu}, {1, 1});
  EXPECT_TRUE(std::isnan(y[0]));
}

TYPED_TEST(ChannelLoops, SumsAndGradientsDoWhatTheirFormulasSay) {
  using T = TypeParam;
  for (const Pixels pixels : shapes) {
    const std::size_t count = pixels.count * pixels.channels, channels = pixels.channels;
    const auto x = random<T>(count, 1), dy = random<T>(count, 2), scales = random<T>(channels, 3),
               shifts = random<T>(channels, 4), mean = random<T>(channels, 5),
               p = random<T>(channels, 6), q = random<T>(channels, 7);
    for (const Activation activation : {Activation::none, Activation::relu}) {
      const OutputGradient<T> call = {dy.data(), x.data(), scales, shifts, activation};
      Sums sums(channels), expected(channels);
      add(sums, call, mean, pixels);
      std::vector<T> dx(count);
      input_gradient({dx.data(), p, q}, call, pixels);
      for (std::size_t i = 0; i < count; ++i) {
        const std::size_t c = i % channels;
        const bool through = activation == Activation::none || x[i] * scales[c] + shifts[c] > 0;
        const T g = through ? dy[i] : T(0);
        expected.g[c] += double(g);
        expected.gx[c] += double(g) * (double(x[i]) - double(mean[c]));
        ASSERT_EQ(dx[i], g * scales[c] + (x[i] * p[c] + q[c])) << "value " << i;
      }
      const double tolerance = this->tolerance * double(10 + pixels.count);
      for (std::size_t c = 0; c < channels; ++c) {
        EXPECT_NEAR(sums.g[c], expected.g[c], tolerance);
        EXPECT_NEAR(sums.gx[c], expected.gx[c], tolerance);
      }
    }
  }
}

TYPED_TEST(ChannelLoops, MaskTakesTheGradientWhereTheOutputIsPositive) {
  using T = TypeParam;
  const std::vector<T> dy = {1, 2, 3, 4}, y = {0, 5, -1, T(0.1)};
  std::vector<T> g = dy;
  mask(g.data(), g.data(), y.data(), 4);
  EXPECT_EQ(g, (std::vector<T>{0, 2, 0, 4}));
}

}  // namespace
}  // namespace parajoule::nn::channel_loops
