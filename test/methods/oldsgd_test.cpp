// OLDSGD in every world, against its formulas and the values of its specification.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "replicas.h"

namespace parajoule::methods {
namespace {

Case on(const std::string& topology, std::int64_t period, Problem problem, int ranks,
        std::int64_t steps) {
  return {.method = "oldsgd",
          .settings = {{"period", period}, {"topology", topology}},
          .problem = std::move(problem),
          .ranks = ranks,
          .steps = steps,
          .evaluate = true};
}

/// Thirds of the left, the right and the own; of two ranks the other is both.
std::vector<Row> ring_mixed(const std::vector<Row>& z) {
  const std::size_t n = z.size();
  std::vector<Row> mixed;
  for (std::size_t i = 0; i < n; ++i)
    mixed.push_back(mean({z[(i + n - 1) % n], z[i], z[(i + 1) % n]}));
  return mixed;
}

TEST(Oldsgd, GivesTheValuesOfToy4) {  // N2, I2
  const Outcome found = run(on("ring", 1, toy4(), 4, 300));
  const Row printed{0.271, 0.048666667, 0.762888889, 0.419777778};
  const Row limit{0.587912088, 0.373626374, 0.983516484, 0.678571429};
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_NEAR(found.after(3, rank)[0], printed[rank], 1e-9);
    EXPECT_NEAR(found.after(300, rank)[0], limit[rank], 1e-9);
  }
}

TEST(Oldsgd, EqualsItsSequentialSimulation) {
  for (const int ranks : rank_counts) {
    const Problem problem = uneven(ranks, 37);
    const Outcome found = run(on("ring", 3, problem, ranks, 11));
    Replicas all(problem, ranks);
    std::vector<Row> z;
    for (int step = 0; step < 11; ++step) {
      if (step % 3 == 0) z = all.w;
      all.step(0.1);
      if (step % 3 == 2) {
        const std::vector<Row> mixed = ring_mixed(z);
        for (std::size_t r = 0; r < z.size(); ++r)
          for (std::size_t k = 0; k < 37; ++k) all.w[r][k] += mixed[r][k] - z[r][k];
      }
      expect_after(found, step + 1, all.w);
    }
    expect_ends_with(found, mean(all.w));
  }
}

TEST(Oldsgd, OnACompleteGraphIsCocod) {  // I1, M2
  for (const int ranks : rank_counts) {
    const Problem problem = uneven(ranks, 5);
    const Outcome found = run(on("complete", 3, problem, ranks, 12));
    const Outcome cocod = run({.method = "cocod_sgd",
                               .settings = {{"period", std::int64_t(3)}},
                               .problem = problem,
                               .ranks = ranks,
                               .steps = 12});
    for (int step = 1; step <= 12; ++step) expect_after(found, step, cocod.weights[step - 1]);
  }
}

TEST(Oldsgd, MovesTheMeanByTheMeanGradientInEveryStep) {  // I3
  for (const char* topology : {"ring", "exponential", "complete"}) {
    const Problem problem = varied(5, 3);
    const Outcome found = run(on(topology, 3, problem, 5, 12));
    Replicas before(problem, 5);
    for (const auto& after : found.weights) {
      const Row from = mean(before.w), gradient = mean(before.gradients()), to = mean(after);
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(to[k], from[k] - 0.1 * gradient[k], 1e-13) << topology;
      before.w = after;
    }
  }
}

// Along its second eigenvector the ring's distance from consensus falls by its second eigenvalue.
TEST(Oldsgd, ContractsAsTheGraphDoes) {  // N3, and the sum of the weights stays
  for (const int ranks : {3, 4, 5, 8}) {
    std::vector<Row> start;
    for (int r = 0; r < ranks; ++r)
      start.push_back({2 + std::cos(2 * std::numbers::pi * r / ranks)});
    const Outcome found = run(on("ring", 2, still(start), ranks, 8));
    const double second = 1.0 / 3 + 2.0 / 3 * std::cos(2 * std::numbers::pi / ranks);
    for (int round = 1; round <= 4; ++round)
      for (int r = 0; r < ranks; ++r)
        EXPECT_NEAR(found.after(2 * round, r)[0],
                    2 + std::pow(second, round) * (start[std::size_t(r)][0] - 2), 1e-13);
  }
}

TEST(Oldsgd, OnOneRankIsSerialBitForBit) {  // I15
  expect_serial_on_one_rank("oldsgd", {{"period", std::int64_t(3)}});
}

TEST(Oldsgd, RefusesAnUnknownGraphBeforeTheStart) {
  EXPECT_NE(refusal(on("rign", 3, varied(2, 1), 2, 1)).find("rign"), std::string::npos);
}

}  // namespace
}  // namespace parajoule::methods
