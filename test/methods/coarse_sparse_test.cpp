// Coarse-grained sparse communication in every world; its formula is tested beside its file.
#include <gtest/gtest.h>

#include "bodies.h"

namespace parajoule::methods {
namespace {

Case sparse(double sparsity, int ranks, std::int64_t steps, std::int64_t warmup_steps = 0) {
  Problem problem = varied(ranks, 37);
  problem.momentum = 0.9;
  return {.method = "coarse_sparse",
          .settings = {{"sparsity", sparsity},
                       {"chunk", std::int64_t(5)},
                       {"warmup_steps", warmup_steps}},
          .problem = problem,
          .ranks = ranks,
          .steps = steps};
}

TEST(CoarseSparse, WithoutSparsityEqualsSynchronousBitForBit) {
  for (const int ranks : rank_counts) {
    const Case dense = sparse(0, ranks, 12);
    EXPECT_TRUE(
        run(dense) ==
        run({.method = "synchronous", .problem = dense.problem, .ranks = ranks, .steps = 12}));
  }
}

TEST(CoarseSparse, MovesAsManyChunksAsAreImportantAndTheSameOnAllRanks) {
  for (const int ranks : rank_counts) {
    const Outcome found = run(sparse(0.75, ranks, 20, 4));
    const std::size_t sent[] = {8, 7, 5, 4, 2};  // of 8, ceil(8 (1 - 0.75 t / 4))
    Row before(37);
    for (int step = 1; step <= 20; ++step) {
      const Row& after = found.after(step, 0);
      std::size_t moved = 0;
      for (std::size_t c = 0; c < 8; ++c) {
        bool differs = false;
        for (std::size_t k = 5 * c; k < std::min<std::size_t>(5 * c + 5, 37); ++k)
          differs = differs || after[k] != before[k];
        moved += differs;
      }
      EXPECT_EQ(moved, sent[std::min(step - 1, 4)]) << step;
      for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(found.after(step, rank), after);
      before = after;
    }
  }
}

TEST(CoarseSparse, GoesOnFromWhatItSaved) {
  const Case whole = sparse(0.75, 3, 9, 3);
  for (const std::int64_t after : {1, 2, 6}) {
    Case halves = whole;
    halves.resume_after = after;
    EXPECT_TRUE(run(halves) == run(whole)) << after;
  }
}

}  // namespace
}  // namespace parajoule::methods
