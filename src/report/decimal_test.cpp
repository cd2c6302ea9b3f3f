#include "report/decimal.h"

#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

TEST(Decimal, KnowsWhatItsLastDigitLeavesOpen) {
  EXPECT_DOUBLE_EQ(decimal_of("0.411")->value, 0.411);
  EXPECT_DOUBLE_EQ(decimal_of("0.411")->half_unit, 0.0005);
  EXPECT_DOUBLE_EQ(decimal_of("0.140")->half_unit, 0.0005);
  EXPECT_DOUBLE_EQ(decimal_of("33")->half_unit, 0.5);
  EXPECT_DOUBLE_EQ(decimal_of("1.5e3")->half_unit, 50);
  EXPECT_DOUBLE_EQ(decimal_of("1.5E+3")->value, 1500);
  EXPECT_DOUBLE_EQ(decimal_of("-2.5e-2")->half_unit, 0.0005);
}

TEST(Decimal, IsNoOtherText) {
  for (const char* text : {"", "x", "1.5 ", " 1", "1,5", "nan", "inf", "-inf", "1e999", "12kWh"})
    EXPECT_FALSE(decimal_of(text)) << text;
}

TEST(Decimal, IsShownWithTheDigitsItHas) {
  EXPECT_EQ(supported(0.442579, 0.00066), "0.443");
  EXPECT_EQ(supported(0.2661759, 0.0000016), "0.266176");
  EXPECT_EQ(supported(4757.9, 5.8), "4760");
  EXPECT_EQ(supported(24.66, 0.03), "24.66");
  EXPECT_EQ(supported(4757.9, 0.001), "4757.900");
  EXPECT_EQ(supported(0.25, 0.01), "0.25");
  EXPECT_EQ(supported(-0.001, 0.05), "0.0");
  EXPECT_EQ(supported(0, 0), "0");
  EXPECT_EQ(supported(1234567, 0), "1234600");
}

TEST(Decimal, IsShownWithASpreadThatIsNeverTooSmall) {
  EXPECT_EQ(supported(0.442579, 0.00066, 0.00312), "0.443 ± 0.004");
  EXPECT_EQ(supported(0.266175, 0.0000016, 0.00312), "0.2662 ± 0.0032");
  EXPECT_EQ(supported(0.2661759, 0.0000016, 1e-9), "0.266176 ± 0.000001");
  EXPECT_EQ(supported(113.487, 0.0005, 12.3), "113 ± 13");
  EXPECT_EQ(supported(5, 0, 0), "5.0000");
}

}  // namespace
}  // namespace parajoule::report
