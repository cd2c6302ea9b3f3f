#include "cli/energy_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::cli {
namespace {

using base::Seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// An hour at a constant power.
meter::Series steady(const char* device, const char* kind, double watts) {
  meter::Series series{{.device = device,
                        .device_kind = kind,
                        .quantity = meter::Quantity::power,
                        .unit = "watts",
                        .label = meter::Label::measured,
                        .covers = fmt::format("{} of the test; made up", device),
                        .bias_relative = 0.1},
                       {}};
  for (int i = 0; i <= 3600; i += 2) series.rows.push_back({0, Seconds(i), watts});
  return series;
}

StretchAccount of(const std::vector<std::vector<meter::Series>>& nodes) {
  StretchAccount account;
  for (const auto& series : nodes) {
    account.nodes.push_back(meter::account(series, {Seconds(0), Seconds(3600)}));
    account.totals += account.nodes.back().totals;
  }
  return account;
}

TEST(WholesText, ShowsTheNodeAndWhatItHasOverItsParts) {
  const StretchAccount account =
      of({{steady("node", "node", 500), steady("package-0", "cpu", 100)}});
  const std::string text = wholes_text(account, Look::plain);
  EXPECT_THAT(text, HasSubstr("node         500.0 ± 50.0 Wh  node of the test\n"));
  EXPECT_THAT(text,
              HasSubstr("  remainder  400.0 ± 51.0 Wh  what it has over the measured parts\n"));
  // In the sums it is not.
  EXPECT_EQ(total_text(account.totals.measured), "100.0 ± 10.0 Wh");
  EXPECT_THAT(sources_text(account, Look::plain), HasSubstr("a total of its own"));
}

TEST(WholesText, SaysThatPartsExceedTheirNode) {
  const std::string text =
      wholes_text(of({{steady("node", "node", 100)},
                      {steady("node", "node", 100), steady("package-0", "cpu", 300)}}),
                  Look::plain);
  EXPECT_THAT(text, AllOf(HasSubstr("node 0 node"), HasSubstr("-200.0 ± 31.7 Wh"),
                          HasSubstr("node 1 node: the parts exceed the whole")));
}

TEST(WholesText, IsEmptyWithoutSuchAMeter) {
  EXPECT_EQ(wholes_text(of({{steady("package-0", "cpu", 300)}}), Look::plain), "");
}

TEST(SourcesText, SaysOfASensorThatItIsNotAdded) {
  const StretchAccount account =
      of({{steady("ina219 rail", "sensor", 9), steady("package-0", "cpu", 100)}});
  EXPECT_THAT(sources_text(account, Look::plain),
              HasSubstr("not added: what holds it is not known"));
  EXPECT_EQ(total_text(account.totals.measured), "100.0 ± 10.0 Wh");
}

}  // namespace
}  // namespace parajoule::cli
