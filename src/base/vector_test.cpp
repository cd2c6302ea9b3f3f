#include "base/vector.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"

namespace parajoule::base {
namespace {

TEST(Element, HasANameAndABytesCount) {
  EXPECT_EQ(bytes_of(Element::float32), 4U);
  EXPECT_EQ(bytes_of(Element::float64), 8U);
  EXPECT_EQ(bytes_of(Element::float16), 2U);
  EXPECT_EQ(bytes_of(Element::bfloat16), 2U);
  EXPECT_EQ(bytes_of(Element::int64), 8U);
  EXPECT_EQ(bytes_of(Element::byte), 1U);
  EXPECT_EQ(name_of(Element::bfloat16), "bfloat16");
  EXPECT_EQ(name_of(Element::byte), "byte");
}

TEST(Vector, IsEmptyByDefault) {
  EXPECT_TRUE(Vector().empty());
  EXPECT_EQ(Vector().bytes(), 0U);
  EXPECT_TRUE(Vector().as<float>().empty());
}

TEST(Vector, ViewsTheMemoryItIsGiven) {
  std::vector<double> values{1, 2, 3};
  const Vector x{std::span(values)};
  EXPECT_EQ(x.element(), Element::float64);
  EXPECT_EQ(x.count(), 3U);
  EXPECT_EQ(x.bytes(), 24U);
  x.as<double>()[1] = 7;
  EXPECT_EQ(values[1], 7);
}

TEST(Vector, ARangeOfItIsAView) {
  std::vector<float> values{1, 2, 3, 4};
  const Vector part = Vector(std::span(values))[{1, 3}];
  part.fill(9);
  EXPECT_EQ(values, (std::vector<float>{1, 9, 9, 4}));
  EXPECT_TRUE((part[{2, 2}].empty()));
}

TEST(Vector, ARangeOutsideIsABug) {
  std::vector<float> values(4);
  const Vector x{std::span(values)};
  EXPECT_THROW((x[{0, 5}]), Error);
  EXPECT_THROW((x[{3, 2}]), Error);
  try {
    x[{2, 5}];
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault, Fault::bug);
    EXPECT_NE(std::string(error.what()).find("elements 2 to 5"), std::string::npos);
  }
}

TEST(Vector, IsReadAsWhatItHoldsOnly) {
  std::vector<float> values(4);
  EXPECT_THROW(Vector(std::span(values)).as<double>(), Error);
}

TEST(Vector, NowhereHasALengthAndNoElements) {
  const Vector nothing(nullptr, 10, Element::float32, Place::nowhere);
  EXPECT_EQ(nothing.count(), 10U);
  EXPECT_EQ((nothing[{4, 9}].count()), 5U);
  EXPECT_EQ((nothing[{4, 9}].data()), nullptr);
  EXPECT_THROW(nothing.as<float>(), Error);
  EXPECT_THROW(nothing.fill(1), Error);
}

}  // namespace
}  // namespace parajoule::base
