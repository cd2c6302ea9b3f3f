// LSGD in every world: synchronous SGD over its workers, one step late.
#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

struct Size {
  int groups, workers;  ///< workers a group
  int trainers() const { return groups * workers; }
  int rank_of(int trainer) const { return trainer / workers * (workers + 1) + trainer % workers; }
};

TEST(Lsgd, IsSynchronousSgdOverItsWorkers) {  // J1, J5
  constexpr int steps = 10;
  const double rates[steps] = {0.01, 0.02, 0.03, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05};
  // With short batches, and workers that have no samples.
  for (const Size& size : {Size{1, 1},
                           {1, 2},
                           {1, 3},
                           {1, 4},
                           {1, 5},
                           {1, 8},
                           {2, 1},
                           {2, 2},
                           {2, 3},
                           {3, 2},
                           {4, 1}}) {
    const int trainers = size.trainers();
    Problem problem = uneven(trainers, 37);
    // A late update takes the rate of its own step.
    problem.learning_rate.assign(rates, rates + steps);
    const Outcome found = run({.method = "lsgd",
                               .settings = {{"ranks_per_group", std::int64_t(size.workers + 1)}},
                               .problem = problem,
                               .ranks = size.groups * (size.workers + 1),
                               .steps = steps,
                               .evaluate = true});
    Replicas all(problem, trainers);
    for (int step = 0; step < steps; ++step) {
      for (int trainer = 0; trainer < trainers; ++trainer)
        expect_near(found.after(step + 1, size.rank_of(trainer)), all.w[0], 1e-13, "weights");
      all.step_together(rates[step]);
    }
    for (int trainer = 0; trainer < trainers; ++trainer)
      expect_near(found.finished[std::size_t(size.rank_of(trainer))], all.w[0], 1e-13, "finished");
    // Also on those that serve: they take part in evaluations.
    for (const Row& row : found.evaluated) expect_near(row, all.w[0], 1e-13, "evaluated");
  }
}

}  // namespace
}  // namespace parajoule::methods
