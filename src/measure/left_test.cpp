#include "measure/left.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::measure {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(LeftBehind, IsOneLineHoweverManyThereAre) {
  std::vector<Left> left = {{.process = 17, .name = "daemon", .cpu = {}}};
  EXPECT_THAT(told(left), HasSubstr("daemon (process 17) outlived the command"));
  for (int i = 0; i < 500; ++i) left.push_back({.process = 100 + i, .name = "sleep", .cpu = {}});
  for (const char* name : {"a", "b", "c", "d"})
    left.push_back({.process = 1000, .name = name, .cpu = {}});
  const std::string text = told(left);
  EXPECT_THAT(text, HasSubstr("505 processes outlived the command, the first of them 17: sleep "
                              "(500 times), "));
  EXPECT_THAT(text, HasSubstr("others"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  EXPECT_LT(text.size(), 250u);
}

}  // namespace
}  // namespace parajoule::measure
