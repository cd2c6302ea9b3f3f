// float16 and bfloat16 against their definition: a number is sign, exponent and fraction, and the
// nearest one is found by looking at all of them.

#include "base/narrow.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::base {
namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
};
constexpr Format float16{5, 10};
constexpr Format bfloat16{8, 7};

/// The value of `bits` by IEEE 754, for numbers and infinities.
double value_of(std::uint16_t bits, Format format) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const int most = (1 << format.exponent_bits) - 1;
  const int exponent = bits >> format.fraction_bits & most;
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == most) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - format.fraction_bits);
  return sign *
         std::ldexp((1 << format.fraction_bits) + fraction, exponent - bias - format.fraction_bits);
}

/// The bits of the nearest number, ties to the even fraction. Bits of positive numbers are in the
/// order of their values, and infinity stands where the next number would.
std::uint16_t nearest_bits(double value, Format format) {
  const std::uint16_t infinite =
      std::uint16_t(((1 << format.exponent_bits) - 1) << format.fraction_bits);
  const double magnitude = std::fabs(value);
  std::uint16_t low = 0;
  for (std::uint16_t step = 0x4000; step > 0; step /= 2)
    if (low + step < infinite && value_of(low + step, format) <= magnitude) low += step;
  const double below = value_of(low, format);
  const double above = low + 1 == infinite ? 2 * below - value_of(std::uint16_t(low - 1), format)
                                           : value_of(std::uint16_t(low + 1), format);
  const double middle = below + (above - below) / 2;
  const bool up = magnitude > middle || (magnitude == middle && low % 2 == 1);
  return std::uint16_t((low + up) | (std::signbit(value) ? 0x8000 : 0));
}

bool is_nan(std::uint16_t bits, Format format) {
  const int infinite = ((1 << format.exponent_bits) - 1) << format.fraction_bits;
  return (bits & 0x7fff) > infinite;
}

TEST(Narrow, EachNumberOfSixteenBitsComesBack) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = std::uint16_t(i);
    if (is_nan(bits, float16)) {
      EXPECT_TRUE(std::isnan(from_float16(bits)));
      EXPECT_TRUE(is_nan(to_float16(from_float16(bits)), float16));
    } else {
      EXPECT_EQ(double(from_float16(bits)), value_of(bits, float16));
      EXPECT_EQ(to_float16(from_float16(bits)), bits);
    }
    if (is_nan(bits, bfloat16)) {
      EXPECT_TRUE(std::isnan(from_bfloat16(bits)));
      EXPECT_TRUE(is_nan(to_bfloat16(from_bfloat16(bits)), bfloat16));
    } else {
      EXPECT_EQ(double(from_bfloat16(bits)), value_of(bits, bfloat16));
      EXPECT_EQ(to_bfloat16(from_bfloat16(bits)), bits);
    }
  }
}

TEST(Narrow, RoundsToNearestAndTiesToEven) {
  Stream stream{17};
  for (int i = 0; i < 100000; ++i) {
    const auto bits = std::uint32_t(stream() >> 32);
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value) || std::isinf(value)) continue;
    EXPECT_EQ(to_float16(value), nearest_bits(value, float16)) << value;
    EXPECT_EQ(to_bfloat16(value), nearest_bits(value, bfloat16)) << value;
  }
}

TEST(Narrow, TiesAndTheirNeighboursInEveryBinade) {
  for (int i = 0; i < 0x7c00; ++i) {
    const double low = value_of(std::uint16_t(i), float16);
    const double high = i + 1 < 0x7c00 ? value_of(std::uint16_t(i + 1), float16) : 65536;
    const float middle = float(low + (high - low) / 2);  // exact: a float has bits to spare
    for (float value : {middle, std::nextafter(middle, 0.F), std::nextafter(middle, 1e9F)})
      EXPECT_EQ(to_float16(value), nearest_bits(value, float16)) << value;
  }
}

// Just above a tie in double, which rounding to float first would put on the tie.
TEST(Narrow, DoublesRoundOnce) {
  const double above_tie = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(to_float16(float(above_tie)), to_float16(1.0F));
  EXPECT_EQ(value_of(to_float16(to_odd(above_tie)), float16), 1 + 0x1p-10);
  Stream stream{18};
  for (int i = 0; i < 100000; ++i) {
    const int exponent = int(stream.below(60)) - 40;
    const double value = std::ldexp(stream.uniform(-1, 1), exponent);
    EXPECT_EQ(to_float16(to_odd(value)), nearest_bits(value, float16)) << value;
    EXPECT_EQ(to_bfloat16(to_odd(value)), nearest_bits(value, bfloat16)) << value;
  }
  EXPECT_EQ(to_float16(to_odd(1e300)), 0x7c00);
  EXPECT_EQ(to_bfloat16(to_odd(-1e300)), 0xff80);
  EXPECT_TRUE(std::isnan(to_odd(std::numeric_limits<double>::quiet_NaN())));
}

}  // namespace
}  // namespace parajoule::base
