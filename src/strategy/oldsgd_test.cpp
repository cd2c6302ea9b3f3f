#include "strategy/oldsgd.h"

#include <cmath>

#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Replicas;
using toy::Trial;

Trial trial(std::int64_t period, const std::string& topology, int ranks, int steps) {
  return {.method = "oldsgd",
          .options = {{"period", period}, {"topology", topology}},
          .ranks = ranks,
          .steps = steps};
}

/// Thirds of the left, the right and the own.
toy::Rows ring_mixed(const toy::Rows& z) {
  const std::size_t n = z.size();
  toy::Rows mixed;
  for (std::size_t i = 0; i < n; ++i)
    mixed.push_back(toy::mean({z[(i + n - 1) % n], z[i], z[(i + 1) % n]}));
  return mixed;
}

TEST(Oldsgd, FollowsThePrintedTraceOfDPsgd) {  // N2, I2
  const auto ours = toy::first(toy::train(trial(1, "ring", 4, 3)).last());
  const std::vector<double> printed{0.271, 0.048666667, 0.762888889, 0.419777778};
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(ours[r], printed[r], 1e-9);
  const auto limit = toy::first(toy::train(trial(1, "ring", 4, 1000)).last());
  const std::vector<double> theirs{0.587912088, 0.373626374, 0.983516484, 0.678571429};
  for (int r = 0; r < 4; ++r) EXPECT_NEAR(limit[r], theirs[r], 1e-9);
}

TEST(Oldsgd, EqualsItsSequentialSimulation) {
  for (const int ranks : {1, 2, 3, 4, 5, 8}) {
    Trial made = trial(3, "ring", ranks, 11);
    made.momentum = 0.9;
    made.progress = [](int rank, int step, Progress& progress) {
      if (rank == 0 && step % 5 == 3) progress.samples = 0;
    };
    const auto ours = toy::train(made);
    Replicas all(ranks, made.count, made.momentum);
    auto z = all.w;
    for (int step = 0; step < made.steps; ++step) {
      if (step % 3 == 0) z = all.w;
      for (int r = 0; r < ranks; ++r)
        if (!(r == 0 && step % 5 == 3)) all.step(r);
      if (step % 3 == 2) {
        const auto mixed = ring_mixed(z);
        for (int r = 0; r < ranks; ++r)
          for (std::size_t k = 0; k < made.count; ++k) all.w[r][k] += mixed[r][k] - z[r][k];
      }
      toy::expect_near(ours.after[step], all.w);
    }
    toy::expect_near(ours.evaluated, toy::Rows(ranks, toy::mean(all.w)));
    toy::expect_near(ours.finished, toy::Rows(ranks, toy::mean(all.w)));
  }
}

TEST(Oldsgd, OnACompleteGraphIsCocod) {  // I1
  for (const int ranks : {2, 3, 4, 5, 8}) {
    Trial cocod = trial(3, "complete", ranks, 12);
    const auto oldsgd = toy::train(cocod);
    cocod.method = "cocod_sgd";
    cocod.options.erase("topology");
    const auto theirs = toy::train(cocod);
    for (int step = 0; step < 12; ++step) toy::expect_near(oldsgd.after[step], theirs.after[step]);
  }
}

TEST(Oldsgd, MeanMovesByTheMeanGradientInEveryStep) {  // I3
  for (const char* topology : {"ring", "exponential", "complete"}) {
    const auto done = toy::train(trial(3, topology, 5, 12));
    toy::Rows before(5, Replicas::Row(3));
    for (const toy::Rows& after : done.after) {
      Replicas at(5, 3);
      at.w = before;
      toy::Rows gradients;
      for (int r = 0; r < 5; ++r) gradients.push_back(at.gradient(r));
      for (std::size_t k = 0; k < 3; ++k)
        EXPECT_NEAR(toy::mean(after)[k], toy::mean(before)[k] - toy::rate * toy::mean(gradients)[k],
                    1e-14);
      before = after;
    }
  }
}

// Along its second eigenvector the ring's distance from consensus falls by its second eigenvalue.
TEST(Oldsgd, ContractsAsTheGraphDoes) {  // N3, Q2
  for (const int ranks : {3, 4, 8}) {
    Trial made = toy::without_samples(trial(2, "ring", ranks, 8));
    made.count = 1;
    made.start = [&](int rank, std::size_t) { return std::cos(2 * M_PI * rank / ranks); };
    const auto done = toy::train(made);
    const double second = 1.0 / 3 + 2.0 / 3 * std::cos(2 * M_PI / ranks);
    for (int round = 1; round <= 4; ++round)
      for (int r = 0; r < ranks; ++r)
        EXPECT_NEAR(done.after[2 * round - 1][r][0], std::pow(second, round) * made.start(r, 0),
                    1e-14);
  }
}

TEST(Oldsgd, SendsItsWeightsToEachNeighbourOnceARound) {  // N4
  for (const auto& [topology, degree] : {std::pair("ring", 2), std::pair("exponential", 5)}) {
    const auto done = toy::train(trial(3, topology, 8, 9));
    EXPECT_EQ(done.messages, 3u * 8 * degree) << topology;
    EXPECT_EQ(done.bytes, 3u * 8 * degree * 3 * sizeof(double)) << topology;
  }
}

TEST(Oldsgd, RefusesAnUnknownGraphBeforeTheStart) {
  const Method& chosen = method("oldsgd");
  const base::Settings settings("oldsgd", chosen.options, {{"topology", std::string("rign")}});
  EXPECT_THROW(chosen.part(0, 2, comm::Nodes{{0, 0}}, settings), base::Error);
}

}  // namespace
}  // namespace parajoule::strategy
