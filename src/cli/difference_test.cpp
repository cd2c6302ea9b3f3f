#include "cli/difference.h"

#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

TEST(Difference, IsTheFirstKeyThatDiffers) {
  EXPECT_EQ(difference("a = 1\nb = 2\n", "a = 1\nb = 2\n"), std::nullopt);
  const auto found = difference("a = 1\nb = x = y\nc = 3\n", "a = 1\nb = x\nc = 4\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, "b");
  EXPECT_EQ(found->here, "x = y");
  EXPECT_EQ(found->there, "x");
}

TEST(Difference, MayBeAKeyThatOneDoesNotHave) {
  const auto found = difference("a = 1\nc = 3\n", "a = 1\nb = 2\nc = 3\n");
  ASSERT_TRUE(found);
  EXPECT_EQ(setting_text(found->key, found->here), "no `b`");
  EXPECT_EQ(setting_text(found->key, found->there), "b = 2");
}

}  // namespace
}  // namespace parajoule::cli
