#include "meter/source.h"

#include <gtest/gtest.h>

namespace parajoule::meter {
namespace {

TEST(Gap, IsTheSameAfterItWasWritten) {
  using Cause = Gap::Cause;
  for (Cause cause : {Cause::failed, Cause::implausible, Cause::reset, Cause::missed_wrap,
                      Cause::suspended, Cause::late})
    for (const char* detail : {"", "fell from 17 J to 3 J", "a: b: c"}) {
      const Gap gap{cause, detail};
      EXPECT_EQ(parse_gap(written(gap)), gap);
    }
}

TEST(Gap, OfUnknownWordsIsAFailedReading) {
  EXPECT_EQ(parse_gap("solar flare: big"), (Gap{Gap::Cause::failed, "solar flare: big"}));
  EXPECT_EQ(parse_gap(""), (Gap{Gap::Cause::failed, ""}));
}

TEST(Names, AreThoseOfTheRecord) {
  EXPECT_EQ(name_of(Quantity::energy), "energy");
  EXPECT_EQ(name_of(Quantity::utilisation), "utilisation");
  EXPECT_EQ(name_of(Label::measured), "measured");
  EXPECT_EQ(name_of(Label::modelled), "modelled");
}

}  // namespace
}  // namespace parajoule::meter
