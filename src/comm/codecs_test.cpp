#include "comm/codecs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Vector;

/// What comes out at the other end.
template <class T>
std::vector<T> sent(const Codec& codec, std::vector<T> values) {
  std::vector<std::byte> wire(codec.bytes(values.size()));
  codec.encode(Vector(std::span(wire)), Vector(std::span(values)));
  std::vector<T> decoded(values.size(), T(7)), added(values.size(), T(7));
  codec.decode(Vector(std::span(decoded)), Vector(std::span(wire)));
  codec.add_decoded(Vector(std::span(added)), Vector(std::span(wire)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(decoded[i])) {
      EXPECT_EQ(added[i], T(7) + decoded[i]);
    }
  }
  return decoded;
}

/// Of many sizes and both signs.
template <class T>
std::vector<T> varied() {
  base::Stream stream{5};
  std::vector<T> values{0, 1, -1};
  for (int i = 0; i < 1000; ++i)
    values.push_back(T(stream.normal() * std::exp(10 * stream.normal())));
  return values;
}

template <class T>
class Codecs : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Codecs, Types);

TYPED_TEST(Codecs, Truncate16TakesTheUpperHalf) {
  const auto values = varied<TypeParam>();
  const auto decoded = sent(truncate16(), values);
  EXPECT_EQ(truncate16().bytes(values.size()), 2 * values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(float(decoded[i])),
              std::bit_cast<std::uint32_t>(float(values[i])) & 0xffff0000);
    EXPECT_LE(std::fabs(values[i] - decoded[i]), std::ldexp(std::fabs(values[i]), -7));
  }
}

TYPED_TEST(Codecs, Truncate16KeepsWhatIsNoNumber) {
  using Limits = std::numeric_limits<TypeParam>;
  // Its payload lies in the lower half: cut off, it would be infinite.
  const TypeParam low = std::bit_cast<float>(0x7f800001);
  const auto decoded =
      sent(truncate16(), std::vector<TypeParam>{low, Limits::quiet_NaN(), Limits::infinity()});
  EXPECT_TRUE(std::isnan(decoded[0]));
  EXPECT_TRUE(std::isnan(decoded[1]));
  EXPECT_EQ(decoded[2], Limits::infinity());
}

TYPED_TEST(Codecs, Scale8IsOffByHalfAStepOfItsScale) {
  auto values = varied<TypeParam>();
  EXPECT_EQ(scale8().bytes(values.size()), values.size() + 4);
  for (int begin : {0, 100, 900}) {
    const std::vector<TypeParam> part(values.begin() + begin, values.begin() + begin + 100);
    const auto decoded = sent(scale8(), part);
    double largest = 0;
    for (const auto value : part) largest = std::max(largest, std::fabs(double(value)));
    const double step = largest / 127;
    for (std::size_t i = 0; i < part.size(); ++i)
      EXPECT_LE(std::fabs(double(part[i]) - double(decoded[i])), step / 2 * (1 + 1e-5));
  }
}

TYPED_TEST(Codecs, Scale8OfTheEdges) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(scale8().bytes(0), 0u);
  EXPECT_EQ(sent(scale8(), std::vector<TypeParam>{0, 0}), (std::vector<TypeParam>{0, 0}));
  EXPECT_EQ(sent(scale8(), std::vector<TypeParam>{127, -127, 1}),
            (std::vector<TypeParam>{127, -127, 1}));
  // Too small for a scale of float32.
  const TypeParam tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(sent(scale8(), std::vector<TypeParam>{tiny}), (std::vector<TypeParam>{0}));
  for (const auto bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
    for (const auto value : sent(scale8(), std::vector<TypeParam>{1, bad, 2}))
      EXPECT_TRUE(std::isnan(value)) << bad;
}

}  // namespace
}  // namespace parajoule::comm
