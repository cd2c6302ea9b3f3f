#include "meter/nvml_field.h"

#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::meter {
namespace {

using testing::HasSubstr;

/// A field of a type, with what comes after as its value and all other bytes set: only the part
/// that the type names may be looked at.
template <class T>
NvmlField field(int type, T value) {
  NvmlField field{};
  field.type = type;
  field.value.large = ~0ULL;
  std::memcpy(&field.value, &value, sizeof value);
  return field;
}

double number(const NvmlField& field) { return std::get<double>(number_in(field)); }
std::string why(const NvmlField& field) { return std::get<std::string>(number_in(field)); }

TEST(NvmlField, IsReadByItsType) {
  EXPECT_EQ(number(field(0, 250'000.5)), 250'000.5);
  EXPECT_EQ(number(field(1, 250'000U)), 250'000);
  EXPECT_EQ(number(field(2, 250'000UL)), 250'000);
  EXPECT_EQ(number(field(3, 5'000'000'000ULL)), 5e9);
  EXPECT_EQ(number(field(4, 5'000'000'000LL)), 5e9);
  EXPECT_EQ(number(field(5, 250'000)), 250'000);
  EXPECT_EQ(number(field<unsigned short>(6, 321)), 321);
}

TEST(NvmlField, BlankValuesAreNoNumbers) {
  for (unsigned blank : {0xffffffffU, 0x7ffffff0U, 0x7ffffff2U, 0x7fffffffU})
    EXPECT_THAT(why(field(1, blank)), HasSubstr("blank"));
  for (unsigned long long blank : {~0ULL, 9223372036854775792ULL, 9223372036854775794ULL})
    EXPECT_THAT(why(field(3, blank)), HasSubstr("blank"));
  EXPECT_THAT(why(field(4, 9223372036854775794LL)), HasSubstr("blank"));
  EXPECT_THAT(why(field(5, 0x7ffffff1)), HasSubstr("blank"));
  EXPECT_THAT(why(field(0, 140737488355328.0)), HasSubstr("blank"));
  EXPECT_EQ(number(field(1, 0x7fffffefU)), 0x7fffffef);
}

TEST(NvmlField, WhatCannotBeIsNoNumber) {
  EXPECT_THAT(why(field(4, -1LL)), HasSubstr("negative"));
  EXPECT_THAT(why(field(5, -7)), HasSubstr("negative"));
  EXPECT_THAT(why(field(0, -0.5)), HasSubstr("negative"));
  EXPECT_THAT(why(field(0, std::numeric_limits<double>::quiet_NaN())), HasSubstr("not a number"));
  EXPECT_THAT(why(field(7, 1U)), HasSubstr("unknown type 7"));
  EXPECT_THAT(why(field(-1, 1U)), HasSubstr("unknown type -1"));
}

}  // namespace
}  // namespace parajoule::meter
