// LSGD in every world against synchronous SGD over the same workers.
#include <gtest/gtest.h>

#include "bodies.h"

namespace parajoule::methods {
namespace {

struct Size {
  int groups, workers;  ///< workers a group
  int trainers() const { return groups * workers; }
  int rank_of(int trainer) const { return trainer / workers * (workers + 1) + trainer % workers; }
};

Case layered(const Size& size, std::int64_t steps) {
  Problem problem = varied(size.trainers(), 37);
  problem.momentum = 0.9;
  problem.learning_rate = {0.01, 0.02, 0.03, 0.1};  // a late update takes that of its own step
  return {.method = "lsgd",
          .settings = {{"ranks_per_group", std::int64_t(size.workers + 1)}},
          .problem = problem,
          .ranks = size.groups * (size.workers + 1),
          .steps = steps};
}

TEST(Lsgd, EqualsSynchronousSgdOverItsWorkers) {
  for (const Size& size : {Size{1, 1}, {1, 3}, {2, 1}, {2, 3}, {3, 2}}) {
    Case asked = layered(size, 10);
    asked.evaluate = true;
    const Outcome found = run(asked);
    const Outcome flat = run(
        {.method = "synchronous", .problem = asked.problem, .ranks = size.trainers(), .steps = 10});
    for (int trainer = 0; trainer < size.trainers(); ++trainer) {
      const int rank = size.rank_of(trainer);
      for (int step = 2; step <= 10; ++step)
        expect_near(found.after(step, rank), flat.after(step - 1, trainer), 1e-13, "weights");
      expect_near(found.finished[std::size_t(rank)], flat.finished[std::size_t(trainer)], 1e-13,
                  "finished");
    }
    // Also on those that serve: they take part in evaluations.
    for (const Row& row : found.evaluated) expect_near(row, flat.finished[0], 1e-13, "evaluated");
  }
}

TEST(Lsgd, GoesOnFromWhatItSaved) {
  const Case whole = layered({2, 2}, 7);
  for (const std::int64_t after : {1, 4}) {
    Case halves = whole;
    halves.resume_after = after;
    EXPECT_TRUE(run(halves).finished == run(whole).finished) << after;
  }
}

}  // namespace
}  // namespace parajoule::methods
