#pragma once

// Sequential simulations of methods whose ranks move replicas of their own.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bodies.h"

namespace parajoule::methods {

/// The mean of the rows.
inline Row mean(const std::vector<Row>& rows) {
  Row sum(rows.front().size());
  for (const Row& row : rows)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += row[k] / double(rows.size());
  return sum;
}

/// sum_r weight_r row_r.
inline Row weighted(const std::vector<Row>& rows, const Row& weight) {
  Row sum(rows.front().size());
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += weight[r] * rows[r][k];
  return sum;
}

inline bool has_samples(const Problem& problem, int rank, int step) {
  return exact::samples_of(problem, rank, step) > 0;
}

/// n_r / n of each rank in a step.
inline Row weights_of(const Problem& problem, int ranks, int step) {
  Row weights;
  double all = 0;
  for (int r = 0; r < ranks; ++r) {
    weights.push_back(double(exact::samples_of(problem, r, step)));
    all += weights.back();
  }
  for (double& weight : weights) weight /= all;
  return weights;
}

/// Replicas of a quadratic problem: v_r <- mu v_r + g, w_r <- w_r - lr v_r.
class Replicas {
 public:
  Replicas(const Problem& problem, int ranks)
      : v(std::size_t(ranks), Row(problem.start.front().size())), problem_(problem) {
    for (std::size_t r = 0; r < std::size_t(ranks); ++r)
      w.push_back(problem.start.size() == 1 ? problem.start.front() : problem.start[r]);
  }

  int ranks() const { return int(w.size()); }
  Row gradient(int rank) const { return quadratic_gradient(problem_, rank, w[std::size_t(rank)]); }
  std::vector<Row> gradients() const {
    std::vector<Row> all;
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(gradient(rank));
    return all;
  }
  void update(int rank, const Row& gradient, double rate) {
    Row& velocity = v[std::size_t(rank)];
    for (std::size_t k = 0; k < gradient.size(); ++k) {
      velocity[k] = problem_.momentum * velocity[k] + gradient[k];
      w[std::size_t(rank)][k] -= rate * velocity[k];
    }
  }
  /// The next step of each rank on its own, but for those that have no samples in it.
  void step(double rate) {
    for (int rank = 0; rank < ranks(); ++rank)
      if (has_samples(problem_, rank, steps_)) update(rank, gradient(rank), rate);
    ++steps_;
  }
  /// The next step of all together: by the mean over all samples of it.
  void step_together(double rate) {
    const Row gradient = weighted(gradients(), weights_of(problem_, ranks(), steps_++));
    for (int rank = 0; rank < ranks(); ++rank) update(rank, gradient, rate);
  }

  std::vector<Row> w, v;

 private:
  const Problem& problem_;
  int steps_ = 0;
};

/// With momentum. Every third batch is short: some ranks have none of it. Of three ranks or more
/// rank 1 never has a sample.
inline Problem uneven(int ranks, std::size_t parameters) {
  constexpr int steps = 30;  // more than any test of it takes
  const std::int64_t short_batch[] = {3, 0, 1, 0, 0, 2, 0, 0};
  Problem problem = varied(ranks, parameters);
  problem.momentum = 0.9;
  for (int r = 0; r < ranks; ++r) {
    auto& own = problem.samples.emplace_back();
    for (int step = 0; step < steps; ++step) own.push_back(step % 3 == 2 ? short_batch[r] : 4);
    if (ranks > 2 && r == 1) own.assign(1, 0);
  }
  return problem;
}

/// Each rank begins elsewhere, and no gradient moves it.
inline Problem still(const std::vector<Row>& start) {
  Problem problem;
  problem.start = start;
  return problem;
}

inline void expect_after(const Outcome& found, std::int64_t step, const std::vector<Row>& wanted,
                         double tolerance = 1e-13) {
  for (std::size_t rank = 0; rank < wanted.size(); ++rank)
    expect_near(found.after(step, int(rank)), wanted[rank], tolerance,
                "step " + std::to_string(step) + ", rank " + std::to_string(rank));
}

/// What the end and an evaluation leave on each rank.
inline void expect_ends_with(const Outcome& found, const Row& wanted, double tolerance = 1e-13) {
  for (const auto* rows : {&found.finished, &found.evaluated})
    for (const Row& row : *rows) {
      expect_near(row, wanted, tolerance, "mean of the replicas");
      EXPECT_EQ(row, rows->front());
    }
}

/// Stopped after each step but the last and gone on from what was saved, it does the same.
inline void expect_goes_on(const Case& whole) {
  const Outcome wanted = run(whole);
  for (std::int64_t after = 1; after < whole.steps; ++after) {
    Case halves = whole;
    halves.resume_after = after;
    EXPECT_TRUE(run(halves) == wanted) << whole.method << " after " << after;
  }
}

/// On one rank it is `synchronous` to the last bit.
inline void expect_serial_on_one_rank(std::string_view method, const Given& settings) {
  Problem problem = varied(1, 9);
  problem.momentum = 0.9;
  EXPECT_TRUE(
      run({.method = method, .settings = settings, .problem = problem, .ranks = 1, .steps = 12}) ==
      run({.method = "synchronous", .problem = problem, .ranks = 1, .steps = 12}));
}

}  // namespace parajoule::methods
