#include "base/toml.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string refused(std::string_view text) {
  try {
    toml_in(text, "m.toml", Fault::input);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault, Fault::input);
    return error.what();
  }
  ADD_FAILURE() << text << " was read";
  return "";
}

TEST(Toml, IsRead) {
  const toml::table read = toml_in("a = 1\n[b]\nc = [2, 3]\n", "m.toml", Fault::input);
  EXPECT_EQ(read["a"].value<int>(), 1);
  EXPECT_EQ(read["b"]["c"][1].value<int>(), 3);
}

TEST(Toml, ThatBreaksTheParsersAssertionsIsRefused) {
  for (const char* text : {"[{", "a = [{", "a = {{", "[{\"kind\": 1}]", "{\"a\": [1]}", "a = [[{"})
    EXPECT_THAT(refused(text), AllOf(StartsWith("m.toml:"), Not(HasSubstr("\n")))) << text;
}

TEST(Toml, WithALetterWhereASpaceMayStandIsRefused) {
  for (const char* text : {"\u0406", "d\uFE7F", "\u00E9 = 1", "a = 1\u0416", "a\u00A0= 1"})
    EXPECT_THAT(refused(text), AllOf(StartsWith("m.toml:1: "), Not(HasSubstr("\n")))) << text;
}

TEST(Toml, IsRefusedWithItsLine) { EXPECT_THAT(refused("a = 1\nb =\n"), StartsWith("m.toml:2: ")); }

TEST(Toml, IsRefusedInOneShortLine) {
  const std::string key(100'000, 'k');
  const std::string said = refused(key + " = 1\n" + key + " = 2\n");
  EXPECT_LT(said.size(), 300);
  EXPECT_THAT(refused("\"a\\nb\" = 1\n\"a\\nb\" = 2\n"), Not(HasSubstr("\n")));
}

}  // namespace
}  // namespace parajoule::base
