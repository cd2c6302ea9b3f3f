// HPSGD in every world: W <- W - lr P / R with P one period old, and replicas that start again from
// W.
#include <gtest/gtest.h>

#include "replicas.h"

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

/// The rule, one rank after the other.
class Simulation {
 public:
  Simulation(const Problem& problem, int ranks)
      : x(problem, ranks),
        global(problem.start.front()),
        problem_(problem),
        sums_(std::size_t(ranks), Row(global.size())) {}

  void step(bool period_ends) {
    const Row weight = weights_of(problem_, x.ranks(), at_++);
    for (int r = 0; r < x.ranks(); ++r) {
      const Row g = x.gradient(r);
      const double own = weight[std::size_t(r)];
      for (std::size_t k = 0; k < g.size(); ++k) sums_[std::size_t(r)][k] += own * x.ranks() * g[k];
      if (!period_ends && own > 0) x.update(r, g, problem_.learning_rate.front());
    }
    if (!period_ends) return;
    apply(last_);
    last_ = mean(sums_);
    sums_.assign(sums_.size(), Row(global.size()));
    x.w.assign(x.w.size(), global);
  }
  void finish() {
    apply(last_);
    apply(mean(sums_));
  }

  Replicas x;
  Row global;

 private:
  void apply(const Row& sum) {
    for (std::size_t k = 0; k < sum.size(); ++k)
      global[k] -= problem_.learning_rate.front() * sum[k];
  }

  const Problem& problem_;
  std::vector<Row> sums_;
  Row last_;
  int at_ = 0;
};

TEST(HierarchicalParallelSgd, EqualsItsSequentialSimulation) {
  // With short batches, and ranks that have no samples.
  for (const int ranks : rank_counts)
    for (const int period : {1, 2, 3, 5}) {
      Problem problem = uneven(ranks, 37);
      problem.momentum = 0;
      Case made = with_period(period, problem, ranks, 11);
      made.evaluate = true;
      const Outcome found = run(made);
      Simulation rule(problem, ranks);
      for (int step = 1; step <= 11; ++step) {
        rule.step(step % period == 0);
        expect_after(found, step, rule.x.w);
      }
      for (const Row& row : found.evaluated) expect_near(row, rule.global, 1e-13, "evaluated");
      rule.finish();
      for (const Row& row : found.finished) expect_near(row, rule.global, 1e-13, "finished");
    }
}

TEST(HierarchicalParallelSgd, EvaluatesTheGlobalWeights) {
  Case asked = with_period(3, varied(4, 5), 4, 8);
  asked.evaluate = true;
  const Outcome found = run(asked);
  // Those with which the third period began, equal on all ranks.
  for (const Row& row : found.evaluated) EXPECT_EQ(row, found.after(6, 0));
}

}  // namespace
}  // namespace parajoule::methods
