#include "base/error.h"

#include <gtest/gtest.h>

namespace parajoule::base {
namespace {

TEST(Error, SaysWhoseMoveItIs) {
  const Error error(Fault::environment, "no space");
  EXPECT_EQ(error.fault, Fault::environment);
  EXPECT_STREQ(error.what(), "no space");
}

TEST(Ensure, IsSilentWhileItHolds) { EXPECT_NO_THROW(ensure(true, "one is one")); }

TEST(Ensure, NamesTheClaimAndThePlace) {
  try {
    ensure(false, "one is two");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.fault, Fault::bug);
    const std::string what = error.what();
    EXPECT_NE(what.find("one is two"), std::string::npos);
    EXPECT_NE(what.find("error_test.cpp:"), std::string::npos);
    EXPECT_EQ(what.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace parajoule::base
