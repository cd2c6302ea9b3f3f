#include "cli/fields.h"

#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

TEST(Fields, CarryAnyBytesThroughBothEnds) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += char(byte);
  for (const char end : {'\n', '\x1f'}) {
    Fields fields;
    fields.put("all", all);
    fields.put("empty", "");
    fields.put("slashes", "a\\nb\\\\");
    EXPECT_EQ(Fields::parse(fields.written(end), end), fields);
  }
}

TEST(Fields, ALineHasNoNewlineWithin) {
  Fields fields;
  fields.put("text", "two\nlines");
  EXPECT_EQ(fields.written('\x1f').find('\n'), std::string::npos);
}

TEST(Fields, NumbersComeBackExactly) {
  Fields fields;
  fields.put("third", 1.0 / 3);
  fields.put("large", 1L << 62);
  const Fields read = Fields::parse(fields.written());
  EXPECT_EQ(read.number("third"), 1.0 / 3);
  EXPECT_EQ(read.whole("large"), 1L << 62);
}

TEST(Fields, ATornTextGivesWhatIsWhole) {
  const Fields read = Fields::parse("state started\nprocess 12");
  EXPECT_EQ(read.text("state"), "started");
  EXPECT_EQ(read.text("process"), std::nullopt);
}

TEST(Fields, WhatIsNoNumberIsNone) {
  const Fields read = Fields::parse("a 12x\nb \nc\n");
  EXPECT_EQ(read.whole("a"), std::nullopt);
  EXPECT_EQ(read.number("b"), std::nullopt);
  EXPECT_EQ(read.text("c"), std::nullopt);
}

TEST(Fields, ALaterValueReplacesAnEarlierOne) {
  Fields fields;
  fields.put("a", "1");
  fields.put("a", "2");
  EXPECT_EQ(fields.written(), "a 2\n");
}

}  // namespace
}  // namespace parajoule::cli
