#include "comm/combine.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/seed.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Vector;
using Kind = Collective::Kind;

std::vector<float> random(std::size_t count, std::uint64_t seed) {
  base::Stream stream{seed};
  std::vector<float> values(count);
  for (float& value : values) value = float(stream.uniform(-4, 4));
  return values;
}

std::vector<std::uint16_t> narrowed(std::vector<float> values, Element element) {
  std::vector<std::uint16_t> bits(values.size());
  Vector(bits.data(), bits.size(), element).cast(Vector(std::span(values)));
  return bits;
}

std::vector<float> widened(std::vector<std::uint16_t> bits, Element element) {
  std::vector<float> values(bits.size());
  Vector(std::span(values)).cast(Vector(bits.data(), bits.size(), element));
  return values;
}

template <class T>
std::byte* bytes(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

TEST(Combine, AddsInOrderAndWritesEverywhere) {
  for (std::size_t count : {1, 15, 4096, 4097, 10000}) {
    auto a = random(count, 1);
    auto b = random(count, 2);
    auto c = random(count, 3);
    std::vector<float> right(count);
    for (std::size_t i = 0; i < count; ++i) right[i] = a[i] * 0.5F + b[i] * 0.25F + c[i] * 3.0F;
    std::vector<float> elsewhere(count);
    combine({.kind = Kind::sum,
             .element = Element::float32,
             .count = count,
             .from = {{bytes(a), 0.5}, {bytes(b), 0.25}, {bytes(c), 3}},
             .to = {bytes(b), bytes(elsewhere), bytes(a)}});
    EXPECT_EQ(a, right);
    EXPECT_EQ(b, right);
    EXPECT_EQ(elsewhere, right);
  }
}

TEST(Combine, AddsNarrowNumbersInFloat32AndRoundsOnce) {
  for (Element element : {Element::float16, Element::bfloat16}) {
    constexpr std::size_t count = 5000;
    auto a = narrowed(random(count, 1), element);
    auto b = narrowed(random(count, 2), element);
    auto c = narrowed(random(count, 3), element);
    const auto x = widened(a, element);
    const auto y = widened(b, element);
    const auto z = widened(c, element);
    std::vector<float> wide(count);
    for (std::size_t i = 0; i < count; ++i) wide[i] = x[i] + y[i] + z[i];
    combine({.kind = Kind::sum,
             .element = element,
             .count = count,
             .from = {{bytes(a)}, {bytes(b)}, {bytes(c)}},
             .to = {bytes(a)}});
    EXPECT_EQ(a, narrowed(wide, element));
  }
}

TEST(Combine, WholeNumbersAreExactAndBytesWrap) {
  std::vector<std::int64_t> a = {std::int64_t(1) << 60, -5};
  std::vector<std::int64_t> b = {1, 7};
  combine(
      {.element = Element::int64, .count = 2, .from = {{bytes(a)}, {bytes(b)}}, .to = {bytes(a)}});
  EXPECT_EQ(a, (std::vector<std::int64_t>{(std::int64_t(1) << 60) + 1, 2}));
  std::vector<std::uint8_t> x = {200, 1, 255};
  std::vector<std::uint8_t> y = {100, 2, 0};
  combine(
      {.element = Element::byte, .count = 3, .from = {{bytes(x)}, {bytes(y)}}, .to = {bytes(y)}});
  EXPECT_EQ(y, (std::vector<std::uint8_t>{44, 3, 255}));
  combine({.kind = Kind::maximum,
           .element = Element::byte,
           .count = 3,
           .from = {{bytes(x)}, {bytes(y)}},
           .to = {bytes(y)}});
  EXPECT_EQ(y, (std::vector<std::uint8_t>{200, 3, 255}));
}

TEST(Combine, NothingFromOrToIsNothing) {
  std::vector<float> a = {1};
  combine({.count = 1, .from = {{bytes(a)}}});
  combine({.count = 1, .to = {bytes(a)}});
  combine({.count = 0, .from = {{bytes(a)}}, .to = {bytes(a)}});
  EXPECT_EQ(a[0], 1);
}

}  // namespace
}  // namespace parajoule::comm
