#include "base/text.h"

#include <string>

#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

TEST(Text, IsTrimmedAtBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
}

TEST(Text, IsEscapedToOneLine) {
  EXPECT_EQ(escaped("mom\ntum\t\x1b[1m\r\x7f"), "mom\\ntum\\t\\x1b[1m\\x0d\\x7f");
  EXPECT_EQ(escaped(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(escaped("Joule ü"), "Joule ü");
}

TEST(Text, IsShownUpToALength) {
  EXPECT_EQ(shown(std::string(60, 'x')), std::string(60, 'x'));
  EXPECT_EQ(shown(std::string(100'000, 'x')), std::string(60, 'x') + "...");
  EXPECT_EQ(shown("abc", 2), "ab...");
}

TEST(Text, IsNotCutInsideACharacter) { EXPECT_EQ(shown("aü€", 5), "aü..."); }

}  // namespace
}  // namespace parajoule::base
