// Coarse-grained sparse communication in every world, against the paper's rule.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

constexpr std::size_t count = 37;
constexpr std::size_t chunk = 5, chunks = 8;  // the last one has two elements

Case sparse(double sparsity, Problem problem, int ranks, std::int64_t steps,
            std::int64_t warmup_steps = 0) {
  return {.method = "coarse_sparse",
          .settings = {{"sparsity", sparsity},
                       {"chunk", std::int64_t(chunk)},
                       {"warmup_steps", warmup_steps}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps};
}

Problem with_momentum(int ranks) {
  Problem problem = varied(ranks, count);
  problem.momentum = 0.9;
  return problem;
}

/// The rule: all replicas are one, the residuals are each rank's own. `sent` chunks are important
/// in each step but the first, in which all are.
class Simulation {
 public:
  Simulation(const Problem& problem, int ranks, std::size_t sent)
      : all(problem, ranks),
        problem_(problem),
        residual_(std::size_t(ranks), Row(count)),
        sent_(sent) {
    for (std::size_t c = 0; c < chunks; ++c) important_.insert(c);
  }

  void step() {
    const int ranks = all.ranks();
    const Row weight = weights_of(problem_, ranks, at_++);
    std::vector<Row> g = all.gradients();
    for (std::size_t r = 0; r < g.size(); ++r)
      for (std::size_t k = 0; k < count; ++k)
        g[r][k] = weight[r] * ranks * g[r][k] + residual_[r][k];
    const Row mean = methods::mean(g);
    Row norm(chunks);
    for (std::size_t k = 0; k < count; ++k) {
      const bool sends = important_.contains(k / chunk);
      for (std::size_t r = 0; r < g.size(); ++r) {
        // The paper's important chunks hold the sum, whose norm each rank divides by R.
        norm[k / chunk] += sends ? std::fabs(ranks * mean[k]) / ranks : std::fabs(g[r][k]);
        residual_[r][k] = sends ? 0 : problem_.momentum * g[r][k];
        if (!sends) continue;
        all.v[r][k] = problem_.momentum * all.v[r][k] + mean[k];
        all.w[r][k] -= problem_.learning_rate.front() * all.v[r][k];
      }
    }
    choose(norm);
  }

  Replicas all;

 private:
  void choose(Row norm) {
    important_.clear();
    for (std::size_t i = 0; i < sent_; ++i) {
      const auto largest = std::ranges::max_element(norm);  // the first of equal ones
      important_.insert(std::size_t(largest - norm.begin()));
      *largest = -1;
    }
  }

  const Problem& problem_;
  std::vector<Row> residual_;
  std::set<std::size_t> important_;
  std::size_t sent_;
  int at_ = 0;
};

TEST(CoarseSparse, EqualsItsSequentialSimulation) {  // with short batches and ranks without samples
  struct Part {
    double sparsity;
    std::size_t sent;  ///< ceil((1 - sparsity) 8)
  };
  for (const int ranks : rank_counts)
    for (const auto& [sparsity, sent] : {Part{0.85, 2}, {0.5, 4}, {0.99, 1}, {0.25, 6}})
      for (const double momentum : {0.0, 0.9}) {
        Problem problem = uneven(ranks, count);
        problem.momentum = momentum;
        const Outcome found = run(sparse(sparsity, problem, ranks, 15));
        Simulation rule(problem, ranks, sent);
        for (int step = 1; step <= 15; ++step) {
          rule.step();
          expect_after(found, step, rule.all.w, 1e-12);
          for (int r = 0; r < ranks; ++r) EXPECT_EQ(found.after(step, r), found.after(step, 0));
        }
        for (const Row& row : found.finished) EXPECT_EQ(row, found.after(15, 0));
      }
}

TEST(CoarseSparse, WithoutSparsityEqualsSynchronousBitForBit) {  // G1
  for (const int ranks : rank_counts) {
    const Case dense = sparse(0, with_momentum(ranks), ranks, 12);
    EXPECT_TRUE(
        run(dense) ==
        run({.method = "synchronous", .problem = dense.problem, .ranks = ranks, .steps = 12}));
  }
}

TEST(CoarseSparse, MovesAsManyChunksAsAreImportantAndTheSameOnAllRanks) {  // G4, G6
  for (const int ranks : rank_counts) {
    const Outcome found = run(sparse(0.75, with_momentum(ranks), ranks, 20, 4));
    const std::size_t sent[] = {8, 7, 5, 4, 2};  // of 8, ceil(8 (1 - 0.75 t / 4))
    Row before(count);
    for (int step = 1; step <= 20; ++step) {
      const Row& after = found.after(step, 0);
      std::set<std::size_t> moved;
      for (std::size_t k = 0; k < count; ++k)
        if (after[k] != before[k]) moved.insert(k / chunk);
      EXPECT_EQ(moved.size(), sent[std::min(step - 1, 4)]) << step;
      for (int rank = 0; rank < ranks; ++rank) EXPECT_EQ(found.after(step, rank), after);
      before = after;
    }
  }
}

}  // namespace
}  // namespace parajoule::methods
