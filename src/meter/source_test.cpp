#include "meter/source.h"

#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_source.h"

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

TEST(Gap, ThatLastsIsToldOnce) {
  Series series{described("x", Quantity::energy), {}};
  for (int i = 0; i < 1000; ++i)
    series.rows.push_back(
        {0, base::Seconds(0.01 * i), Gap{Gap::Cause::failed, "Permission denied"}});
  const SourceAccount none = account(series, {base::Seconds(0), base::Seconds(10)});
  EXPECT_EQ(none.energy, std::nullopt);
  int told = 0;
  for (const std::string& remark : none.remarks)
    told += remark.find("Permission denied") != std::string::npos;
  EXPECT_EQ(told, 1);
}

TEST(Names, AreThoseOfTheRecord) {
  EXPECT_EQ(name_of(Quantity::energy), "energy");
  EXPECT_EQ(name_of(Quantity::utilisation), "utilisation");
  EXPECT_EQ(name_of(Label::measured), "measured");
  EXPECT_EQ(name_of(Label::modelled), "modelled");
}

}  // namespace
}  // namespace parajoule::meter
