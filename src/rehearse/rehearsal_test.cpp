#include "rehearse/rehearsal.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/catalog.h"

namespace parajoule::rehearse {
namespace {

using base::Seconds;

constexpr double latency = 1e-5;
constexpr double bandwidth = 1e8;
constexpr double memory = 1e9;

/// Two layers of 1000 parameters each; a pass takes 0.01 + 0.02 s forward, 0.03 + 0.04 s backward.
Rehearsal small(const std::string& strategy, const std::map<std::string, base::Value>& given = {}) {
  Rehearsal r;
  r.ranks = 4;
  r.ranks_per_node = 4;
  r.strategy = strategy;
  r.options = base::Settings(strategy, strategy::method(strategy).options, given);
  r.sum = simulate::Sum::ring;
  r.machine.device = {
      .memory_bytes_per_second = memory, .idle = {10}, .compute = {110}, .communicate = {30}};
  r.machine.host = {100};
  r.machine.node = {.latency = Seconds(latency), .bytes_per_second = bandwidth};
  const schedule::Profile profile{.layers = {{.name = "a", .parameters = 1000, .shape = {1}},
                                             {.name = "b", .parameters = 1000, .shape = {1}}}};
  r.plan = {.layers = {{Seconds(0.01), Seconds(0.04), {0, 1000}},
                       {Seconds(0.02), Seconds(0.03), {1000, 2000}}},
            .layout = layout_of(profile),
            .memory_bytes_per_second = memory,
            .state_vectors = 1,
            .local_batch_size = 8,
            .steps = 4};
  return r;
}

double ring(int ranks, double bytes) {
  return 2 * (ranks - 1) * (latency + bytes / ranks / bandwidth);
}
constexpr double pass = 0.1;
constexpr double update = 5 * 2000 * 4 / memory;  // w, g, v read, w and v written

TEST(Rehearsal, OfSynchronousIsPassSumAndUpdate) {
  const Outcome outcome = run(small("synchronous", {{"overlap", std::string("none")}}));
  const double sum = ring(4, 8000);
  EXPECT_NEAR(outcome.per_step.count(), pass + sum + update, 1e-12);
  EXPECT_NEAR(outcome.exposed.count(), sum, 1e-12);
  EXPECT_NEAR(outcome.pass.count(), pass, 1e-12);
  EXPECT_DOUBLE_EQ(outcome.bytes_per_step, 2 * 3 / 4.0 * 8000);
  const double span = 4 * (pass + sum + update);
  EXPECT_NEAR(outcome.span.count(), span, 1e-12);
  const double each = 10 * span + 100 * 4 * (pass + update) + 20 * 4 * sum;
  EXPECT_NEAR(outcome.devices.value, 4 * each, 1e-9 * each);
  EXPECT_NEAR(outcome.hosts.value, 100 * span, 1e-9 * span);
}

TEST(Rehearsal, OfMergedSumsOverlapsThemWithThePass) {
  // A range for each layer: the sum of the last is under way while the first computes.
  const Outcome outcome = run(small(
      "synchronous", {{"merge_by", std::string("bytes")}, {"merge_bytes", std::int64_t(4000)}}));
  EXPECT_NEAR(outcome.per_step.count(), pass + ring(4, 4000) + update, 1e-12);
  EXPECT_NEAR(outcome.exposed.count(), ring(4, 4000), 1e-12);
}

TEST(Rehearsal, OfLocalSgdTalksOnceAPeriod) {
  Rehearsal rehearsal = small("local_sgd", {{"period", std::int64_t(2)}});
  const Outcome outcome = run(rehearsal);
  // Twice in four steps, and once more at the end: weights, and buffers of which there are none.
  EXPECT_NEAR(outcome.span.count(), 4 * (pass + update) + 3 * (ring(4, 8000) + ring(4, 0)), 1e-12);
}

TEST(Rehearsal, CountsTheRanksThatTrain) {
  EXPECT_EQ(run(small("synchronous")).ranks_that_train, 4);
  EXPECT_EQ(run(small("lsgd")).ranks_that_train, 3);  // one serves the others
}

TEST(Rehearsal, ASlowRankHoldsAllUp) {
  Rehearsal rehearsal = small("synchronous", {{"overlap", std::string("none")}});
  rehearsal.plan.slow = {.rank = 2, .factor = 4};
  const Outcome outcome = run(rehearsal);
  EXPECT_NEAR(outcome.per_step.count(), 4 * pass + ring(4, 8000) + update, 1e-12);
  EXPECT_NEAR(outcome.accounts[0].waited.count(), 4 * (3 * pass + ring(4, 8000)), 1e-12);
  EXPECT_NEAR(outcome.accounts[2].waited.count(), 4 * ring(4, 8000), 1e-12);
}

/// The last of four ranks is eight times slower and takes one step while the others take eight.
Rehearsal paced(const std::map<std::string, base::Value>& more) {
  std::map<std::string, base::Value> given{{"slow_ranks", std::vector<std::int64_t>{3}},
                                           {"slow_steps", std::int64_t(1)},
                                           {"fast_steps", std::int64_t(8)}};
  given.insert(more.begin(), more.end());
  Rehearsal rehearsal = small("biased_local_sgd", given);
  rehearsal.plan.steps = 16;
  rehearsal.plan.slow = {.rank = 3, .factor = 8};
  return rehearsal;
}

TEST(Rehearsal, ASlowRankThatTakesFewerStepsHoldsNobodyUp) {
  const Outcome outcome = run(paced({{"biased", false}}));
  const double sums = ring(4, 8000) + ring(4, 0);
  // Two rounds of eight steps, a sum after each, and one more at the end.
  EXPECT_NEAR(outcome.span.count(), 16 * (pass + update) + 3 * sums, 1e-12);
  EXPECT_NEAR(outcome.accounts[0].waited.count(), 3 * sums, 1e-12);
  EXPECT_NEAR(outcome.accounts[3].waited.count(), 2 * 7 * update + 3 * sums, 1e-12);
  EXPECT_EQ(outcome.steps[0].size(), 16u);
  EXPECT_EQ(outcome.steps[3].size(), 2u);
  EXPECT_NEAR(outcome.samples_per_step, 8 * (3 + 1 / 8.0), 1e-12);
  EXPECT_LT(outcome.accounts[0].waited / outcome.span, 0.1);
  Rehearsal together = small("synchronous");
  together.plan.slow = {.rank = 3, .factor = 8};
  const Outcome held_up = run(together);
  EXPECT_GT(held_up.accounts[0].waited / held_up.span, 0.8);
}

TEST(Rehearsal, OfSamplesThatAreChosenNeedsTheirNumber) {
  try {
    run(paced({}));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_NE(std::string(error.what()).find("--samples"), std::string::npos) << error.what();
  }
  Rehearsal rehearsal = paced({});
  rehearsal.plan.samples = 400;  // of two rounds, after which they are chosen anew
  const double chosen = 16 * run(rehearsal).bytes_per_step;
  const double fixed = 16 * run(paced({{"biased", false}})).bytes_per_step;
  EXPECT_NEAR(chosen - fixed, 2 * 3 / 4.0 * 8 * 400, 1e-9);
}

TEST(Rehearsal, NowAndThenARankIsSlow) {
  const Slow slow{.rank = {}, .factor = 1, .random = Slow::Random{0.25, 3, 7}};
  int slowed = 0;
  for (int rank = 0; rank < 100; ++rank) {
    for (int step = 0; step < 100; ++step) {
      const double factor = slow.of(rank, step);
      EXPECT_TRUE(factor == 1 || factor == 3);
      EXPECT_EQ(factor, slow.of(rank, step));
      slowed += factor == 3;
    }
  }
  // Four deviations of a binomial distribution of 10000 trials: sqrt(1875) each.
  EXPECT_NEAR(slowed, 2500, 4 * 43.4);
}

TEST(Rehearsal, NodesTalkOverTheNetwork) {
  Rehearsal rehearsal = small("synchronous", {{"overlap", std::string("none")}});
  rehearsal.ranks_per_node = 1;
  rehearsal.machine.network = {.latency = Seconds(1), .bytes_per_second = bandwidth};
  EXPECT_NEAR(run(rehearsal).per_step.count(), pass + 6 * (1 + 2000 / bandwidth) + update, 1e-9);
}

TEST(Rehearsal, EveryMethodOfTheCatalogRunsOrSaysWhyNot) {
  for (const strategy::Method& method : strategy::methods()) {
    Rehearsal rehearsal = small(std::string(method.name));
    try {
      const Outcome once = run(rehearsal);
      EXPECT_GE(once.span.count(), 4 * pass) << method.name;
      EXPECT_EQ(once.span, run(rehearsal).span) << method.name << ": equal in every run";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.fault, base::Fault::usage) << method.name << ": " << error.what();
    }
  }
}

TEST(Rehearsal, SpansOfADeviceFollowEachOtherAndAddUp) {
  Rehearsal rehearsal = small("synchronous");
  std::vector<double> until(4), computed(4);
  rehearsal.on_span = [&](const simulate::Span& span) {
    if (span.lane != simulate::Span::Lane::device) return;
    const auto rank = std::size_t(span.rank);
    EXPECT_GE(span.begin.count(), until[rank] - 1e-15);
    EXPECT_GT(span.end, span.begin);
    until[rank] = span.end.count();
    if (span.what != "exposed communication") computed[rank] += (span.end - span.begin).count();
  };
  const Outcome outcome = run(rehearsal);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(until[rank], outcome.accounts[rank].finished.count(), 1e-12);
    EXPECT_NEAR(computed[rank], outcome.accounts[rank].computing.count(), 1e-12);
  }
}

}  // namespace
}  // namespace parajoule::rehearse
