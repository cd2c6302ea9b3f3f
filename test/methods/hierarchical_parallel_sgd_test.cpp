// HPSGD in every world, against Pipe-SGD and its own promises; its formula is tested beside its
// file.
#include <gtest/gtest.h>

#include "bodies.h"

namespace parajoule::methods {
namespace {

Case with_period(std::int64_t period, Problem problem, int ranks, std::int64_t steps) {
  return {.method = "hierarchical_parallel_sgd",
          .settings = {{"period", period}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps};
}

TEST(HierarchicalParallelSgd, WithPeriodOneIsPipeSgdOfWidthTwoBitForBit) {
  for (const int ranks : rank_counts) {
    const Problem problem = varied(ranks, 37);
    EXPECT_TRUE(run(with_period(1, problem, ranks, 12)) ==
                run({.method = "pipe_sgd", .problem = problem, .ranks = ranks, .steps = 12}));
  }
}

TEST(HierarchicalParallelSgd, AppliesEverySumByTheEnd) {
  // Constant gradients: in the end every one has acted once, as in synchronous training.
  for (const std::int64_t period : {1, 2, 3, 7}) {
    const Problem problem = Problem::given_gradients({{{1, -2}, {3, 5}, {2, 0}}});
    const Outcome found = run(with_period(period, problem, 3, 5));
    for (const Row& row : found.finished) expect_near(row, {-1, -0.5}, 1e-14, "weights");
  }
}

TEST(HierarchicalParallelSgd, EvaluatesTheGlobalWeights) {
  Case asked = with_period(3, varied(4, 5), 4, 8);
  asked.evaluate = true;
  const Outcome found = run(asked);
  // Those with which the third period began, equal on all ranks.
  for (const Row& row : found.evaluated) EXPECT_EQ(row, found.after(6, 0));
}

TEST(HierarchicalParallelSgd, GoesOnFromWhatItSavedInTheMiddleOfAPeriod) {
  const Case whole = with_period(3, varied(3, 11), 3, 11);
  for (const std::int64_t after : {1, 3, 7}) {
    Case halves = whole;
    halves.resume_after = after;
    EXPECT_TRUE(run(halves) == run(whole)) << after;
  }
}

}  // namespace
}  // namespace parajoule::methods
