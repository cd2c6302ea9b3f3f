#include "train/bad_samples.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::train {
namespace {

using base::Seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class BadSamplesTest : public testing::Test {
 protected:
  std::vector<std::string> told;
  BadSamples bad{[this](std::string_view line) { told.emplace_back(line); }};
};

TEST_F(BadSamplesTest, AFewAreToldByName) {
  bad.finish();
  EXPECT_THAT(told, IsEmpty());
  bad.add("a.png", Seconds(1));
  bad.add("b.png", Seconds(1));
  bad.finish();
  EXPECT_THAT(told, ElementsAre("a.png", "b.png"));
}

TEST_F(BadSamplesTest, ManyAreCountedNowAndThen) {
  for (int i = 0; i < 36; ++i) bad.add("x.png", Seconds(i));
  ASSERT_THAT(told, SizeIs(BadSamples::named + 3));  // at 12, 22 and 32 s
  EXPECT_THAT(told[3], HasSubstr("10 more bad samples, 13 in all"));
  EXPECT_THAT(told[5], HasSubstr("10 more bad samples, 33 in all"));
  bad.finish();
  bad.finish();
  ASSERT_THAT(told, SizeIs(BadSamples::named + 4));
  EXPECT_THAT(told.back(), HasSubstr("3 more bad samples, 36 in all"));
}

}  // namespace
}  // namespace parajoule::train
