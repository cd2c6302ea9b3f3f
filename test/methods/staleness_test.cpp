// How old gradients are when they move the weights. The gradient of each rank in each step has a
// parameter of its own, so that the weights tell which gradients they hold, and how often: of one
// that has moved them once, as part of a mean, -1 / R.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "every_method.h"

namespace parajoule::methods {
namespace {

constexpr int steps = 9;

std::size_t place(int step, int rank, int ranks) { return std::size_t(step * ranks + rank); }

/// A layer for each step.
Problem stamped(int ranks) {
  std::vector<std::vector<Row>> gradients;
  for (int step = 0; step < steps; ++step) {
    auto& of_ranks = gradients.emplace_back();
    for (int rank = 0; rank < ranks; ++rank)
      of_ranks.emplace_back(std::size_t(steps * ranks))[place(step, rank, ranks)] = 1;
  }
  Problem problem = Problem::given_gradients(gradients);
  problem.learning_rate = {1};
  problem.shapes.assign(std::size_t(steps), {ranks});
  return problem;
}

/// What the weights of a rank hold of the gradient of rank `of` in step `step`, after step `now`.
using Held = std::function<double(int now, int rank, int step, int of)>;

/// Compares all of it, and that at the end every gradient has moved all replicas alike, once.
void expect_held(Case made, int trainers, const Held& held) {
  made.problem = stamped(trainers);
  made.steps = steps;
  const Outcome found = run(made);
  const auto rows = [&](const Held& wanted, int now, int rank) {
    Row row(std::size_t(steps * trainers));
    for (int step = 0; step < steps; ++step)
      for (int of = 0; of < trainers; ++of)
        row[place(step, of, trainers)] = wanted(now, rank, step, of);
    return row;
  };
  const std::string what = std::string(made.method) + " on " + std::to_string(made.ranks);
  for (int rank = 0; rank < trainers; ++rank) {
    for (int now = 0; now < steps; ++now)
      expect_near(found.after(now + 1, rank), rows(held, now, rank), 1e-14,
                  what + ", step " + std::to_string(now) + ", rank " + std::to_string(rank));
    const Held all = [&](int, int, int, int) { return -1.0 / trainers; };
    expect_near(found.finished[std::size_t(rank)], rows(all, steps, rank), 1e-14, what + ", end");
  }
}

/// Each gradient moves all replicas `delay` steps after its own.
Held after(int trainers, const std::function<int(int step)>& delay) {
  return
      [=](int now, int, int step, int) { return now >= step + delay(step) ? -1.0 / trainers : 0; };
}

TEST(Staleness, OfSynchronousIsNoneWithAnyOverlap) {
  for (const int ranks : rank_counts)
    for (const char* overlap : overlaps)
      expect_held({.method = "synchronous", .settings = overlapped(overlap), .ranks = ranks}, ranks,
                  after(ranks, [](int) { return 0; }));
}

TEST(Staleness, OfCoarseSparseIsNoneWhereNothingIsHeldBack) {
  for (const int ranks : rank_counts)
    expect_held({.method = "coarse_sparse",
                 .settings = {{"sparsity", 0.0}, {"chunk", std::int64_t(5)}},
                 .ranks = ranks},
                ranks, after(ranks, [](int) { return 0; }));
}

TEST(Staleness, OfLsgdIsOneStep) {
  for (const int workers : {1, 2, 3, 4, 5, 8})
    expect_held({.method = "lsgd",
                 .settings = {{"ranks_per_group", std::int64_t(workers + 1)}},
                 .ranks = workers + 1},
                workers, after(workers, [](int) { return 1; }));
}

TEST(Staleness, OfPipeSgdIsItsWidthLessOneAndNoneInTheWarmUp) {  // A3
  for (const int ranks : rank_counts)
    for (const int width : {1, 2, 3, 4})
      for (const int warmup : {0, 3}) {
        const Case made{
            .method = "pipe_sgd",
            .settings = {{"width", std::int64_t(width)}, {"warmup_steps", std::int64_t(warmup)}},
            .ranks = ranks};
        expect_held(made, ranks,
                    after(ranks, [=](int step) { return step < warmup ? 0 : width - 1; }));
      }
}

TEST(Staleness, OfHierarchicalParallelSgdIsOnePeriod) {
  for (const int ranks : rank_counts)
    for (const int period : {1, 2, 4}) {
      const Held held = [=](int now, int rank, int step, int of) {
        const int ended = (now + 1) / period, own = step / period;
        if (own + 2 <= ended) return -1.0 / ranks;
        // The replica holds this rank's gradients of the period under way, and then drops them.
        return own == ended && of == rank && step <= now ? -1.0 : 0;
      };
      expect_held({.method = "hierarchical_parallel_sgd",
                   .settings = {{"period", std::int64_t(period)}},
                   .ranks = ranks},
                  ranks, held);
    }
}

using Matrix = std::vector<Row>;

/// A row of each rank: of a graph's neighbours, which `joined` tells, and itself.
Matrix equal_weights(int ranks, const std::function<bool(int distance)>& joined) {
  const auto count = std::size_t(ranks);
  Matrix w(count, Row(count));
  for (int i = 0; i < ranks; ++i) {
    double degree = 1;
    for (int j = 0; j < ranks; ++j) degree += j != i && joined((j - i + ranks) % ranks);
    for (int j = 0; j < ranks; ++j)
      if (j == i || joined((j - i + ranks) % ranks)) w[std::size_t(i)][std::size_t(j)] = 1 / degree;
  }
  return w;
}

Matrix everyone(int ranks) {
  return equal_weights(ranks, [](int) { return true; });
}

/// Of two ranks the other one is both neighbours.
Matrix ring(int ranks) {
  if (ranks == 2) return {{1. / 3, 2. / 3}, {2. / 3, 1. / 3}};
  return equal_weights(ranks, [=](int distance) { return distance == 1 || distance == ranks - 1; });
}

Matrix exponential(int ranks) {
  const auto power = [](int distance) { return (distance & (distance - 1)) == 0; };
  return equal_weights(ranks,
                       [=](int distance) { return power(distance) || power(ranks - distance); });
}

/// Each replica holds its own gradients at once. At the end of every period replicas are mixed: as
/// they are, or (`late`) as they were at its beginning; so another rank's gradient is at most
/// `period` - 1, or 2 `period` - 1, steps old when a neighbour first takes it in.
Held mixed(const Matrix& w, int period, bool late) {
  std::vector<Matrix> powers{Matrix(w.size(), Row(w.size()))};
  for (std::size_t i = 0; i < w.size(); ++i) powers[0][i][i] = 1;
  while (powers.size() <= steps) {
    Matrix& next = powers.emplace_back();
    for (const Row& row : w) next.push_back(weighted(powers[powers.size() - 2], row));
  }
  return [=](int now, int rank, int step, int of) {
    if (now < step) return 0.0;
    const int times = std::max(0, (now + 1) / period - step / period - int(late));
    return -powers[std::size_t(times)][std::size_t(rank)][std::size_t(of)];
  };
}

TEST(Staleness, OfMethodsThatAverageIsAtMostAPeriod) {
  for (const int ranks : rank_counts)
    for (const std::int64_t period : {1, 2, 4}) {
      const Held held = mixed(everyone(ranks), int(period), false);
      expect_held({.method = "local_sgd", .settings = {{"period", period}}, .ranks = ranks}, ranks,
                  held);
      expect_held({.method = "post_local_sgd",
                   .settings = {{"period", period}, {"from_epoch", std::int64_t(0)}},
                   .ranks = ranks},
                  ranks, held);
      expect_held({.method = "biased_local_sgd",
                   .settings = {{"fast_steps", period}, {"biased", false}},
                   .ranks = ranks},
                  ranks, held);
    }
}

TEST(Staleness, OfMethodsThatAverageInTheBackgroundIsAtMostTwoPeriods) {
  for (const int ranks : rank_counts) {
    expect_held({.method = "delayed_averaging", .ranks = ranks}, ranks,
                mixed(everyone(ranks), 1, true));
    for (const std::int64_t period : {1, 2, 4}) {
      expect_held({.method = "cocod_sgd", .settings = {{"period", period}}, .ranks = ranks}, ranks,
                  mixed(everyone(ranks), int(period), true));
      for (const auto& [topology, w] : {std::pair("ring", ring(ranks)),
                                        {"exponential", exponential(ranks)},
                                        {"complete", everyone(ranks)}})
        expect_held({.method = "oldsgd",
                     .settings = {{"period", period}, {"topology", std::string(topology)}},
                     .ranks = ranks},
                    ranks, mixed(w, int(period), true));
    }
  }
}

/// Chunk c has a parameter for each step, whose gradient is 1 + c / 10 then and zero in all others:
/// after T steps of being held back mu^T of it is left, which moves the weights once and then as
/// the velocity.
TEST(Staleness, WhatCoarseSparseHoldsBackFadesWithItsAgeAndActsOnce) {
  constexpr std::size_t chunks = 5;
  constexpr double mu = 0.9;
  for (const int ranks : rank_counts) {
    std::vector<std::vector<Row>> gradients;
    for (std::size_t step = 0; step < steps; ++step) {
      Row gradient(chunks * steps);
      for (std::size_t c = 0; c < chunks; ++c) gradient[c * steps + step] = 1 + double(c) / 10;
      gradients.emplace_back(std::size_t(ranks), gradient);
    }
    Problem problem = Problem::given_gradients(gradients);
    problem.momentum = mu;
    problem.learning_rate = {1};
    const Outcome found = run({.method = "coarse_sparse",
                               .settings = {{"sparsity", 0.6}, {"chunk", std::int64_t(steps)}},
                               .problem = problem,
                               .ranks = ranks,
                               .steps = steps});
    Row w(chunks * steps), left = w, velocity = w, before = w;
    int longest = 0;
    std::vector<int> held(chunks);
    for (std::size_t step = 0; step < steps; ++step) {
      const Row& after = found.after(std::int64_t(step) + 1, 0);
      std::size_t sent = 0;
      for (std::size_t c = 0; c < chunks; ++c) {
        const auto begin = std::ptrdiff_t(c * steps), end = begin + steps;
        // The first gradient of each chunk was sent, so its velocity shows whenever it moves.
        const bool moves =
            !std::equal(after.begin() + begin, after.begin() + end, before.begin() + begin);
        sent += moves;
        held[c] = moves ? 0 : held[c] + 1;
        longest = std::max(longest, held[c]);
        left[c * steps + step] = 1 + double(c) / 10;
        for (std::size_t k = c * steps; k < (c + 1) * steps; ++k) {
          if (moves) w[k] -= velocity[k] = mu * velocity[k] + std::exchange(left[k], 0);
          left[k] *= mu;
        }
      }
      EXPECT_EQ(sent, step == 0 ? chunks : 2) << step;  // ceil(0.4 * 5)
      for (int rank = 0; rank < ranks; ++rank)
        expect_near(found.after(std::int64_t(step) + 1, rank), w, 1e-13, "weights");
      before = after;
    }
    EXPECT_GE(longest, 3);
  }
}

}  // namespace
}  // namespace parajoule::methods
