// Every operation against a plain loop over doubles, for each element type, at lengths around the
// widths of vector registers and of the blocks of narrow types.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/seed.h"
#include "base/vector.h"

namespace parajoule::base {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A vector with memory of its own, filled and read as doubles.
class Owned {
 public:
  Owned(Element element, std::span<const double> values)
      : element_(element), count_(values.size()), memory_(bytes_of(element) * values.size()) {
    std::vector<double> copy(values.begin(), values.end());
    view().cast(Vector(std::span(copy)));
  }
  Vector view() { return {memory_.data(), count_, element_}; }
  std::vector<double> values() {
    std::vector<double> wide(count_);
    Vector(std::span(wide)).cast(view());
    return wide;
  }

 private:
  Element element_;
  std::size_t count_;
  std::vector<std::byte> memory_;
};

std::vector<double> some(std::size_t count, std::uint64_t seed) {
  Stream stream{seed, count};
  std::vector<double> values(count);
  for (double& value : values) value = std::ldexp(double(stream.below(512)) - 256, -6);
  return values;
}

/// Half a unit in the last place of a number near one, with room for three roundings.
double tolerance(Element element) {
  if (element == Element::float64) return 4e-16;
  if (element == Element::float32) return 2e-7;
  return element == Element::float16 ? 2e-3 : 1.6e-2;
}

struct Case {
  Element element;
  std::size_t count;
};

class Operation : public testing::TestWithParam<Case> {
 protected:
  using OfTwo = std::function<double(double y, double x)>;

  /// act(y, x) leaves expected(y, x) in y and x as it was.
  void check(const std::function<void(Vector, Vector)>& act, const OfTwo& expected) {
    const auto [element, count] = GetParam();
    Owned y(element, some(count, 1));
    Owned x(element, some(count, 2));
    const std::vector<double> before = y.values();
    const std::vector<double> other = x.values();
    act(y.view(), x.view());
    EXPECT_EQ(x.values(), other);
    const std::vector<double> after = y.values();
    for (std::size_t i = 0; i < count; ++i) {
      const double wanted = expected(before[i], other[i]);
      EXPECT_NEAR(after[i], wanted, tolerance(element) * (4 + std::fabs(wanted))) << i;
    }
  }
};

TEST_P(Operation, Copy) {
  check([](Vector y, Vector x) { y.copy(x); }, [](double, double x) { return x; });
}
TEST_P(Operation, Fill) {
  check([](Vector y, Vector) { y.fill(0.75); }, [](double, double) { return 0.75; });
  check([](Vector y, Vector) { y.fill(0); }, [](double, double) { return 0; });
}
TEST_P(Operation, Scale) {
  check([](Vector y, Vector) { y.scale(0.3); }, [](double y, double) { return 0.3 * y; });
}
TEST_P(Operation, Add) {
  check([](Vector y, Vector x) { y.add(x); }, [](double y, double x) { return y + x; });
  check([](Vector y, Vector x) { y.add(x, -0.1); }, [](double y, double x) { return y - 0.1 * x; });
}
TEST_P(Operation, Lerp) {
  check([](Vector y, Vector x) { y.lerp(x, 0.25); },
        [](double y, double x) { return 0.75 * y + 0.25 * x; });
}
TEST_P(Operation, Multiply) {
  check([](Vector y, Vector x) { y.multiply(x); }, [](double y, double x) { return y * x; });
}
TEST_P(Operation, AVectorMayMeetItself) {
  check([](Vector y, Vector) { y.add(y); }, [](double y, double) { return 2 * y; });
  check([](Vector y, Vector) { y.multiply(y); }, [](double y, double) { return y * y; });
}

// The values are multiples of 1/64 below 4, so that sums of products are exact in double.
TEST_P(Operation, SumsAreExactHere) {
  const auto [element, count] = GetParam();
  Owned x(element, some(count, 3));
  Owned y(element, some(count, 4));
  const std::vector<double> a = x.values();
  const std::vector<double> b = y.values();
  EXPECT_EQ(x.view().sum(), std::accumulate(a.begin(), a.end(), 0.0));
  EXPECT_EQ(x.view().dot(y.view()), std::inner_product(a.begin(), a.end(), b.begin(), 0.0));
  double magnitudes = 0;
  double largest = 0;
  for (double value : a) {
    magnitudes += std::fabs(value);
    largest = std::max(largest, std::fabs(value));
  }
  EXPECT_EQ(x.view().sum_of_magnitudes(), magnitudes);
  EXPECT_EQ(x.view().largest_magnitude(), largest);
  EXPECT_TRUE(x.view().finite());
}

TEST_P(Operation, OneBadElementIsFound) {
  const auto [element, count] = GetParam();
  for (std::size_t at = 0; at < count; at += 1 + count / 7) {
    std::vector<double> values = some(count, 5);
    values[at] = -infinity;
    Owned x(element, values);
    EXPECT_FALSE(x.view().finite()) << at;
    EXPECT_EQ(x.view().largest_magnitude(), infinity) << at;
    values[at] = nan;
    values[0] = at == 0 ? nan : infinity;
    Owned y(element, values);
    EXPECT_FALSE(y.view().finite()) << at;
    EXPECT_TRUE(std::isnan(y.view().largest_magnitude())) << at;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (Element element : {Element::float32, Element::float64, Element::float16, Element::bfloat16})
    for (std::size_t count : {0, 1, 2, 3, 7, 8, 15, 16, 17, 33, 63, 511, 512, 513, 1030})
      all.push_back({element, count});
  return all;
}

INSTANTIATE_TEST_SUITE_P(EachTypeAndLength, Operation, testing::ValuesIn(cases()),
                         [](const auto& info) {
                           return std::string(name_of(info.param.element)) + "_" +
                                  std::to_string(info.param.count);
                         });

class Moved : public testing::TestWithParam<Element> {};

TEST_P(Moved, GatherAndScatterAreInverse) {
  const std::vector<double> values{3, 1, 4, 1, 5, 9, 2, 6};
  const std::vector<std::int64_t> index{6, 0, 5};
  Owned from(GetParam(), values);
  Owned picked(GetParam(), std::vector<double>(3));
  picked.view().gather(from.view(), index);
  EXPECT_EQ(picked.values(), (std::vector<double>{2, 3, 9}));
  Owned back(GetParam(), std::vector<double>(8));
  back.view().scatter(picked.view(), index);
  EXPECT_EQ(back.values(), (std::vector<double>{3, 0, 0, 0, 0, 9, 2, 0}));
}

TEST_P(Moved, AnIndexOutsideIsABug) {
  Owned from(GetParam(), std::vector<double>(4));
  Owned to(GetParam(), std::vector<double>(1));
  for (std::int64_t outside : {std::int64_t{-1}, std::int64_t{4}}) {
    const std::vector<std::int64_t> index{outside};
    EXPECT_THROW(to.view().gather(from.view(), index), Error);
    EXPECT_THROW(from.view().scatter(to.view(), index), Error);
  }
  const std::vector<std::int64_t> two{0, 1};
  EXPECT_THROW(to.view().gather(from.view(), two), Error);
  EXPECT_THROW(from.view().scatter(to.view(), two), Error);
}

TEST_P(Moved, CastsToEachOtherType) {
  const std::vector<double> values{0, 1, 2, 100, 255};
  Owned from(GetParam(), values);
  for (Element other : {Element::float32, Element::float64, Element::float16, Element::bfloat16,
                        Element::int64, Element::byte}) {
    Owned to(other, std::vector<double>(values.size()));
    to.view().cast(from.view());
    EXPECT_EQ(to.values(), values) << name_of(other);
  }
}

TEST_P(Moved, AddsWholeNumbers) {
  Owned y(GetParam(), std::vector<double>{1, 2, 3});
  Owned x(GetParam(), std::vector<double>{10, 20, 30});
  y.view().add(x.view(), 2);
  EXPECT_EQ(y.values(), (std::vector<double>{21, 42, 63}));
  y.view().fill(7);
  EXPECT_EQ(y.values(), (std::vector<double>{7, 7, 7}));
}

INSTANTIATE_TEST_SUITE_P(EachType, Moved,
                         testing::Values(Element::float32, Element::float64, Element::float16,
                                         Element::bfloat16, Element::int64, Element::byte),
                         [](const auto& info) { return std::string(name_of(info.param)); });

TEST(HostOperations, IntegersAreExactAndWrapAround) {
  std::vector<std::int64_t> y{(std::int64_t{1} << 60) + 1,
                              std::numeric_limits<std::int64_t>::max()};
  std::vector<std::int64_t> x{3, 1};
  Vector(std::span(y)).add(Vector(std::span(x)), -1);
  EXPECT_EQ(y[0], (std::int64_t{1} << 60) - 2);
  Vector(std::span(y)).add(Vector(std::span(x)), 2);
  EXPECT_EQ(y[1], std::numeric_limits<std::int64_t>::min());
  std::vector<std::byte> a{std::byte{250}};
  std::vector<std::byte> b{std::byte{10}};
  Vector(std::span(a)).add(Vector(std::span(b)));
  EXPECT_EQ(a[0], std::byte{4});
}

TEST(HostOperations, CastsToIntegersCutTowardsZeroAndRefuseWhatDoesNotFit) {
  std::vector<float> from{-1.9F, 2.9F};
  std::vector<std::int64_t> to(2);
  Vector(std::span(to)).cast(Vector(std::span(from)));
  EXPECT_EQ(to, (std::vector<std::int64_t>{-1, 2}));
  for (float bad : {1e30F, float(nan), float(infinity)}) {
    std::vector<float> one{bad};
    EXPECT_THROW(Vector(std::span(to).first(1)).cast(Vector(std::span(one))), Error) << bad;
  }
}

TEST(HostOperations, WhatHasNoMeaningIsABug) {
  std::vector<std::int64_t> whole{1, 2};
  std::vector<std::byte> bytes(2);
  std::vector<float> two(2);
  std::vector<float> three(3);
  std::vector<double> wide(2);
  const Vector x{std::span(whole)};
  EXPECT_THROW(x.scale(2), Error);
  EXPECT_THROW(x.fill(0.5), Error);
  EXPECT_THROW(x.add(x, 0.5), Error);
  EXPECT_THROW(x.sum(), Error);
  EXPECT_THROW(Vector(std::span(bytes)).finite(), Error);
  EXPECT_THROW(Vector(std::span(two)).copy(Vector(std::span(three))), Error);
  EXPECT_THROW(Vector(std::span(two)).add(Vector(std::span(wide))), Error);
  EXPECT_THROW(Vector(std::span(two)).dot(Vector(std::span(wide))), Error);
}

// 2^24 + 1 is no float: a sum formed in float would stay at 2^24.
TEST(HostOperations, SumsAreFormedInDouble) {
  std::vector<float> x(4096, 1);
  x[0] = 0x1p24F;
  EXPECT_EQ(Vector(std::span(x)).sum(), 0x1p24 + 4095);
}

TEST(HostOperations, NegativeZeroIsFilledAsItIs) {
  std::vector<float> x(3, 1);
  Vector(std::span(x)).fill(-0.0);
  for (float value : x) EXPECT_TRUE(std::signbit(value) && value == 0);
}

}  // namespace
}  // namespace parajoule::base
