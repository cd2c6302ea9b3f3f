#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "meter/account.h"
#include "meter/made_up_source.h"

namespace parajoule::meter {
namespace {

using base::Joules;
using base::Seconds;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A source that reads a constant power for ten seconds, ten times a second.
Series steady(Description description, double watts, double until = 10) {
  Series series{std::move(description), {}};
  const bool counter = series.description.quantity == Quantity::energy;
  for (int i = 0; i <= int(until * 10 + 0.5); ++i)
    series.rows.push_back({0, Seconds(0.1 * i), counter ? 7 + watts * 0.1 * i : watts});
  return series;
}

Description of(std::string device, std::string kind, Quantity quantity = Quantity::energy) {
  Description description = described(std::move(device), quantity);
  description.device_kind = std::move(kind);
  description.bias_relative = 0.05;
  description.update_period = Seconds(0.001);
  return description;
}

Description part(std::string device, std::string kind, std::string whole) {
  Description description = of(std::move(device), std::move(kind));
  description.part_of = std::move(whole);
  return description;
}

NodeAccount account_of(const std::vector<Series>& series) {
  return account(series, {Seconds(0), Seconds(10)});
}

double measured(const NodeAccount& node) { return node.totals.measured->energy().value; }

TEST(Contradictions, TwoCountersOfOneDeviceThatAgreeAreNotRemarkedOn) {
  const NodeAccount node =
      account_of({steady(of("package-0", "cpu"), 100), steady(of("package-0", "cpu"), 100.001)});
  EXPECT_THAT(node.sources[0].remarks, IsEmpty());
  EXPECT_TRUE(node.sources[0].counts);
  EXPECT_FALSE(node.sources[1].counts);
  EXPECT_NEAR(measured(node), 1000, 1e-6);
}

TEST(Contradictions, TwoCountersOfOneDeviceThatDifferAreToldApart) {
  Description perf = of("package-0 dram", "memory");
  perf.covers = "memory, perf; and more";
  const NodeAccount node =
      account_of({steady(of("package-0 dram", "memory"), 5), steady(perf, 20)});
  EXPECT_THAT(node.sources[0].remarks, Contains("disagrees: 5.0 W, but memory, perf says 20.0 W"));
  EXPECT_THAT(node.sources[1].remarks, Contains(HasSubstr("disagrees: 20.0 W")));
  EXPECT_NEAR(measured(node), 50, 1e-6);
}

TEST(Contradictions, SensorsOfDifferentTypesMayDifferByTheirBiases) {
  const auto node = [](double watts) {
    Description rough = of("node", "node");
    rough.bias_relative = 0.1;
    return account_of({steady(of("node", "node"), 300), steady(rough, watts)});
  };
  EXPECT_THAT(node(320).sources[0].remarks, IsEmpty());
  EXPECT_THAT(node(400).sources[0].remarks, Contains(HasSubstr("disagrees")));
}

TEST(Contradictions, ASecondSourceTakesOverWhereTheFirstDied) {
  const NodeAccount node =
      account_of({steady(of("package-0", "cpu"), 100, 4), steady(of("package-0", "cpu"), 100)});
  EXPECT_FALSE(node.sources[0].counts);
  EXPECT_TRUE(node.sources[1].counts);
  EXPECT_NEAR(measured(node), 1000, 1e-6);
}

TEST(Contradictions, PartsThatExceedTheirWholeAreFlagged) {
  const auto platform = [](double psys) {
    return account_of({steady(of("platform", "platform"), psys),
                       steady(part("package-0", "cpu", "platform"), 100),
                       steady(part("package-0 dram", "memory", "platform"), 30)});
  };
  EXPECT_THAT(platform(140).sources[0].remarks, IsEmpty());
  EXPECT_THAT(platform(128).sources[0].remarks, IsEmpty());  // within what they are unsure
  EXPECT_THAT(platform(80).sources[0].remarks, Contains(HasSubstr("its parts draw more than it")));
}

TEST(Contradictions, AMemoryUnlikeItsLikesIsNoted) {
  const auto memories = [](double first, double second) {
    return account_of({steady(of("package-0 dram", "memory"), first),
                       steady(of("package-1 dram", "memory"), second)});
  };
  EXPECT_THAT(memories(200, 6).sources[0].remarks,
              Contains("200 W, where package-1 dram draws 6 W: one of them may be wrong"));
  EXPECT_THAT(memories(6, 200).sources[1].remarks, Contains(HasSubstr("package-0 dram")));
  EXPECT_THAT(memories(40, 3).sources[0].remarks, IsEmpty());
  EXPECT_THAT(memories(100, 20).sources[0].remarks, IsEmpty());
}

/// As a live line makes them, from energies alone.
TEST(Contradictions, AreFoundInAccountsWithoutAPower) {
  std::vector<SourceAccount> sources;
  for (const char* device : {"node", "package-0", "package-0", "package-0 dram"}) {
    SourceAccount source{.description = of(device, device == std::string("node") ? "node" : "cpu")};
    source.energy = Joules{100.0 + 100 * double(sources.size())};
    source.covered = Seconds(10);
    sources.push_back(source);
  }
  const NodeAccount node = total(sources, {Seconds(0), Seconds(10)});
  EXPECT_NEAR(measured(node), 200 + 400, 1e-9);
  EXPECT_NEAR(node.wholes.at(0).remainder->value, 100 - 600, 1e-9);
  EXPECT_THAT(node.sources[1].remarks, Contains(HasSubstr("disagrees")));
  sources[1].covered = sources[2].covered = Seconds(0);
  EXPECT_THAT(total(sources, {Seconds(0), Seconds(10)}).sources[1].remarks,
              testing::Not(Contains(HasSubstr("disagrees"))));
}

TEST(Wholes, AreTotalsOfTheirOwn) {
  const NodeAccount node =
      account_of({steady(of("node", "node", Quantity::power), 500),
                  steady(of("package-0", "cpu"), 100), steady(of("GPU 0", "gpu"), 250)});
  EXPECT_NEAR(measured(node), 3500, 1e-6);
  EXPECT_FALSE(node.sources[0].counts);
  ASSERT_THAT(node.wholes, SizeIs(1));
  EXPECT_EQ(node.wholes[0].source, 0u);
  EXPECT_NEAR(node.wholes[0].remainder->value, 1500, 1e-6);
  // Biases of 5 % of unlike sensors add as squares.
  EXPECT_NEAR(node.wholes[0].uncertainty.bias.value, 0.05 * std::hypot(5000, 1000, 2500), 1e-6);
  EXPECT_THAT(node.wholes[0].remarks, IsEmpty());
}

TEST(Wholes, PartsThatExceedTheNodeAreFlagged) {
  const NodeAccount node = account_of(
      {steady(of("node", "node", Quantity::power), 200), steady(of("package-0", "cpu"), 300)});
  EXPECT_LT(node.wholes[0].remainder->value, 0);
  EXPECT_THAT(node.wholes[0].remarks, Contains(HasSubstr("exceed the whole")));
}

TEST(Wholes, WithoutMeasuredPartsThereIsNoRemainder) {
  Description modelled = of("cores", "cpu");
  modelled.label = Label::modelled;
  const NodeAccount node =
      account_of({steady(of("node", "node", Quantity::power), 200), steady(modelled, 50)});
  EXPECT_FALSE(node.totals.measured);
  EXPECT_FALSE(node.wholes.at(0).remainder);
}

TEST(Wholes, ThatSpeakForPartOfTheTimeHaveNoRemainder) {
  const NodeAccount node =
      account_of({steady(of("node", "node"), 500, 6), steady(of("package-0", "cpu"), 100)});
  EXPECT_FALSE(node.wholes.at(0).remainder);
  EXPECT_THAT(node.wholes[0].remarks, Contains(HasSubstr("less time")));
}

TEST(Wholes, OfAModuleNothingIsTakenAway) {
  const NodeAccount node = account_of(
      {steady(of("module-0", "module", Quantity::power), 600), steady(of("grace-0", "cpu"), 200)});
  EXPECT_NEAR(measured(node), 2000, 1e-6);
  ASSERT_THAT(node.wholes, SizeIs(1));
  EXPECT_FALSE(node.wholes[0].remainder);
}

TEST(Wholes, DivideThemselvesOnlyWhereNothingElseMeters) {
  const Series node = steady(of("node", "node"), 500);
  const Series cpu = steady(part("node cpu", "cpu", "node"), 120);
  const Series memory = steady(part("node memory", "memory", "node"), 40);
  const Series package = steady(of("package-0", "cpu"), 110);
  EXPECT_NEAR(measured(account_of({node, cpu, memory})), 1600, 1e-6);
  const NodeAccount both = account_of({node, cpu, memory, package});
  EXPECT_NEAR(measured(both), 1500, 1e-6);
  EXPECT_FALSE(both.sources[1].counts);
}

TEST(Sensors, OfUnknownPlaceAreNeverAdded) {
  const NodeAccount node = account_of({steady(of("ina219 rail", "sensor", Quantity::power), 9),
                                       steady(of("package-0", "cpu"), 100)});
  EXPECT_NEAR(measured(node), 1000, 1e-6);
  EXPECT_TRUE(node.sources[0].energy);
  EXPECT_THAT(node.wholes, IsEmpty());
}

}  // namespace
}  // namespace parajoule::meter
