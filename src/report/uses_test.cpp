// Made-up runs with one planted waste: the first suggestion names it, with its saving.

#include "report/uses.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parajoule::report {
namespace {

using base::Joules;
using base::Seconds;
using testing::HasSubstr;

/// Of one step of one rank, in seconds.
struct Shape {
  double data_wait = 0.01;
  double forward = 0.3;
  double backward = 0.6;
  double wait = 0.02;
  double update = 0.05;
  double evaluation = 0.01;  ///< after each step, to keep it simple
};

/// Ranks in step, at 300 W together; the shapes of all have the same length.
Traced run_of(const std::vector<Shape>& shapes, int steps = 50) {
  Traced run{.run = "x",
             .begin = Seconds(0),
             .end = Seconds(0),
             .energy = EnergyCurve({}),
             .label = "measured",
             .phases = {},
             .steps = {}};
  double end = 0;
  for (int rank = 0; rank < int(shapes.size()); ++rank) {
    const Shape& shape = shapes[std::size_t(rank)];
    double now = 1;  // one second of start-up
    const auto phase = [&](const char* name, double length) {
      run.phases.push_back({rank, name, Seconds(now), Seconds(now + length)});
      now += length;
    };
    for (int step = 0; step < steps; ++step) {
      phase("data_wait", shape.data_wait);
      phase("forward", shape.forward);
      phase("backward", shape.backward);
      phase("exposed_communication", shape.wait);
      phase("update", shape.update);
      run.steps.push_back({.rank = rank,
                           .step = step,
                           .seconds = Seconds(now),
                           .samples = 32,
                           .loss = 1,
                           .sent_bytes = 0,
                           .waited = Seconds(shape.wait)});
      phase("evaluation", shape.evaluation);
    }
    end = std::max(end, now);
  }
  run.end = Seconds(end + 0.3);
  run.energy = EnergyCurve({{Seconds(0), Joules{0}}, {run.end, Joules{300 * run.end.count()}}});
  run.uncertainty = 0.1;
  return run;
}

Joules sum(const Uses& uses) {
  Joules all = {};
  for (const Use& use : uses.uses) all += use.energy;
  return all;
}

TEST(Uses, SumToTheTotal) {
  const auto found = uses_of(run_of({{}, {.forward = 0.31, .wait = 0.01}}));
  EXPECT_NEAR(sum(*found) / found->total, 1, 1e-9);
  EXPECT_NEAR(found->total.value, 300 * (1 + 50 * 0.99 + 0.3), 1e-6);
}

TEST(Uses, OfACleanRunCallForNothing) {
  EXPECT_TRUE(uses_of(run_of({{}, {}, {}, {}}))->suggestions.empty());
}

TEST(Uses, NameEvaluationOfTheTrainingSet) {
  Traced run = run_of({{.evaluation = 0.98 * 0.26 / 0.74}, {.evaluation = 0.98 * 0.26 / 0.74}});
  run.evaluation_of_training_set = 0.96;
  const auto found = uses_of(run);
  ASSERT_FALSE(found->suggestions.empty());
  EXPECT_THAT(found->suggestions[0].change, HasSubstr("evaluate_training_set = false"));
  const double planted = 300 * 50 * 0.98 * 0.26 / 0.74 * 0.96;
  EXPECT_NEAR(found->suggestions[0].saving.value / planted, 1, 0.1);
  EXPECT_NEAR(found->suggestions[0].half_width / found->suggestions[0].saving, 0.1, 1e-12);
}

TEST(Uses, NameWaitingForData) {
  const Shape waits = {.data_wait = 0.98 * 0.4 / 0.6};
  const auto found = uses_of(run_of({waits, waits}));
  EXPECT_THAT(found->suggestions.at(0).change, HasSubstr("loader_threads"));
  EXPECT_NEAR(found->suggestions[0].saving.value / (300 * 50 * 0.98 * 0.4 / 0.6), 1, 0.1);
}

TEST(Uses, NameTheSlowRank) {
  const Shape slow = {.forward = 0.6, .backward = 1.2}, quick = {.wait = 0.92};
  const auto found = uses_of(run_of({quick, quick, slow, quick}));
  EXPECT_EQ(found->suggestions.at(0).use, "waiting for stragglers");
  EXPECT_THAT(found->suggestions[0].change, HasSubstr("that of rank 2"));
  // Were it as quick as the others, each step would be 0.9 s shorter for all.
  EXPECT_NEAR(found->suggestions[0].saving.value / (300 * 50 * 0.9), 1, 0.1);
}

TEST(Uses, FollowThePowerOfTheMoment) {
  Traced run = run_of({{.evaluation = 1}});
  run.phases = {{0, "forward", Seconds(0), Seconds(10)},
                {0, "evaluation", Seconds(10), Seconds(20)}};
  run.end = Seconds(20);
  run.energy = EnergyCurve(
      {{Seconds(0), Joules{0}}, {Seconds(10), Joules{3000}}, {Seconds(20), Joules{4000}}});
  const auto found = uses_of(run);
  EXPECT_DOUBLE_EQ(found->uses[0].energy.value, 3000);
  EXPECT_DOUBLE_EQ(found->uses[1].energy.value, 1000);
}

TEST(Uses, WithoutEnergyOrRanksThereAreNone) {
  Traced run = run_of({{}});
  run.steps.clear();
  EXPECT_FALSE(uses_of(run));
  run = run_of({{}});
  run.energy = EnergyCurve({});
  EXPECT_FALSE(uses_of(run));
}

}  // namespace
}  // namespace parajoule::report
