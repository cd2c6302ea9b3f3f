// Overlap-Local-SGD in every world, against its formulas.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

Case with(std::int64_t period, double pull, double momentum, Problem problem, int ranks,
          std::int64_t steps) {
  return {.method = "overlap_local_sgd",
          .settings = {{"period", period}, {"pull", pull}, {"momentum", momentum}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

TEST(OverlapLocalSgd, EqualsItsSequentialSimulation) {
  for (const int ranks : rank_counts)
    for (const double beta : {0.0, 0.7}) {
      const Problem problem = uneven(ranks, 37);
      const Outcome found = run(with(2, 0.6, beta, problem, ranks, 13));
      Replicas all(problem, ranks);
      Row z = problem.start.front(), next = z, v(37);
      for (int step = 1; step <= 13; ++step) {
        all.step(0.1);
        if (step % 2 == 0) {
          for (std::size_t k = 0; k < 37; ++k) {
            v[k] = beta * v[k] + (next[k] - z[k]);
            z[k] += v[k];
            for (Row& x : all.w) x[k] = 0.4 * x[k] + 0.6 * z[k];
          }
          next = mean(all.w);
        }
        expect_after(found, step, all.w);
      }
      expect_ends_with(found, mean(all.w));
    }
}

TEST(OverlapLocalSgd, WithoutPullEachRankTrainsAlone) {
  const Problem problem = varied(4, 3);
  const Outcome found = run(with(2, 0, 0.7, problem, 4, 12));
  Replicas alone(problem, 4);
  for (int step = 1; step <= 12; ++step) {
    alone.step(0.1);
    expect_after(found, step, alone.w);
  }
}

}  // namespace
}  // namespace parajoule::methods
