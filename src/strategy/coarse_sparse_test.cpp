// Coarse-grained sparse communication against the paper's rule in plain numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using testing::HasSubstr;
using toy::Given;
using toy::Replicas;
using toy::Rows;
using toy::Trial;
using Row = Replicas::Row;

constexpr std::size_t count = 37;
constexpr std::size_t chunk = 5, chunks = 8;  // the last one has two elements

Given sparse(double sparsity, std::int64_t warmup_steps = 0, std::int64_t chunk_size = chunk,
             std::int64_t threshold_bytes = 1'000'000) {
  return {{"sparsity", sparsity},
          {"chunk", chunk_size},
          {"warmup_steps", warmup_steps},
          {"threshold_bytes", threshold_bytes}};
}

/// The rule: all replicas are one, the residuals are each rank's own.
class Simulation {
 public:
  Simulation(int ranks, double momentum, std::function<std::size_t(int step)> sent)
      : all(ranks, count, momentum), residual(ranks, Row(count)), sent_(std::move(sent)) {
    for (std::size_t c = 0; c < chunks; ++c) important.insert(c);
  }

  void step(const std::vector<double>& weight = {}) {
    const int ranks = int(all.w.size());
    Rows g;
    for (int r = 0; r < ranks; ++r) {
      g.push_back(all.gradient(r));
      for (std::size_t k = 0; k < count; ++k)
        g[r][k] = (weight.empty() ? 1 : weight[r] * ranks) * g[r][k] + residual[r][k];
    }
    const Row mean = toy::mean(g);
    std::vector<double> norm(chunks);
    for (std::size_t k = 0; k < count; ++k) {
      const bool sends = important.contains(k / chunk);
      for (int r = 0; r < ranks; ++r) {
        // The paper's important chunks hold the sum, whose norm each rank divides by R.
        norm[k / chunk] += sends ? std::fabs(ranks * mean[k]) / ranks : std::fabs(g[r][k]);
        residual[r][k] = sends ? 0 : all.momentum * g[r][k];
        if (!sends) continue;
        all.u[r][k] = all.momentum * all.u[r][k] + mean[k];
        all.w[r][k] -= toy::rate * all.u[r][k];
      }
    }
    choose(norm);
  }

  Replicas all;
  Rows residual;
  std::set<std::size_t> important;

 private:
  void choose(std::vector<double> norm) {
    important.clear();
    ++at_;
    for (std::size_t i = 0; i < sent_(at_); ++i) {
      const auto largest = std::ranges::max_element(norm);  // the first of equal ones
      important.insert(std::size_t(largest - norm.begin()));
      *largest = -1;
    }
  }

  std::function<std::size_t(int)> sent_;
  int at_ = 0;
};

TEST(CoarseSparse, EqualsItsSequentialSimulation) {
  struct Case {
    double sparsity;
    std::size_t sent;  ///< ceil((1 - sparsity) 8)
  };
  for (int ranks : {1, 2, 3, 4, 5, 8}) {
    for (const auto& [sparsity, sent] : {Case{0.85, 2}, {0.5, 4}, {0.99, 1}, {0.25, 6}}) {
      for (double momentum : {0.0, 0.5, 0.9}) {
        Simulation rule(ranks, momentum, [sent = sent](int) { return sent; });
        const auto done = toy::train({.method = "coarse_sparse",
                                      .options = sparse(sparsity),
                                      .ranks = ranks,
                                      .steps = 15,
                                      .count = count,
                                      .momentum = momentum});
        for (const Rows& after : done.after) {
          rule.step();
          toy::expect_near(after, rule.all.w, 1e-12);
          for (const Row& w : after) EXPECT_EQ(w, after[0]);
        }
        EXPECT_EQ(done.finished, done.last());
      }
    }
  }
}

TEST(CoarseSparse, SumsDuringThePassAreThoseOfOneSumToTheBit) {
  // Of one element, of 3, which cuts chunks and pieces between them, and of all.
  const auto train = [](std::int64_t threshold_bytes) {
    Trial trial{.method = "coarse_sparse",
                .options = sparse(0.5, 4, chunk, threshold_bytes),
                .steps = 12,
                .count = count,
                .momentum = 0.9};
    trial.progress = [](int rank, int, Progress& at) {
      at.samples = rank;
      at.samples_of_all = 6;
    };
    return toy::train(trial);
  };
  const auto whole = train(1'000'000);
  for (const std::int64_t elements : {1, 3, 5, 36}) {
    const auto parts = train(elements * std::int64_t(sizeof(double)));
    EXPECT_EQ(parts.after, whole.after) << elements;
    EXPECT_GE(parts.bytes, whole.bytes);
    EXPECT_GT(parts.messages, whole.messages);
  }
}

TEST(CoarseSparse, SumsStartBeforeThePassIsOver) {
  struct Noting final : toy::Worker {
    using toy::Worker::Worker;
    void compute_gradients(Watch& watch) override {
      gradients().fill(1);
      for (std::size_t begin : {30, 20, 10, 0}) {
        watch.ready({begin, begin == 30 ? count : begin + 10});
        messages.push_back(group_.traffic().messages);
      }
    }
    std::vector<std::uint64_t> messages;
  };
  comm::Threads(2).run([](comm::Communicator& group) {
    const auto strategy = toy::make("coarse_sparse", sparse(0, 0, 1, 7 * sizeof(double)), group);
    Noting worker(group, count, 0.9);
    worker.progress_ = {.samples = 1, .samples_of_all = 2};
    strategy->step(worker);
    EXPECT_LT(worker.messages.front(), worker.messages.back());
  });
}

TEST(CoarseSparse, WithoutSparsityIsSynchronousBitForBit) {
  for (int ranks : {1, 2, 3, 4, 5, 8}) {
    const auto ours = toy::train({.method = "coarse_sparse",
                                  .options = sparse(0),
                                  .ranks = ranks,
                                  .count = count,
                                  .momentum = 0.9});
    const auto dense =
        toy::train({.method = "synchronous", .ranks = ranks, .count = count, .momentum = 0.9});
    EXPECT_EQ(ours.after, dense.after);
  }
}

/// Which elements moved in each step: those of the chunks that were sent.
std::vector<std::set<std::size_t>> moved(const toy::Trained& done) {
  std::vector<std::set<std::size_t>> moved;
  Row before(count);
  for (const Rows& after : done.after) {
    auto& chunks_moved = moved.emplace_back();
    for (std::size_t k = 0; k < count; ++k)
      if (after[0][k] != before[k]) chunks_moved.insert(k / chunk);
    before = after[0];
  }
  return moved;
}

TEST(CoarseSparse, SparsityRisesEvenlyOverTheWarmUp) {
  const auto done = toy::train({.method = "coarse_sparse",
                                .options = sparse(0.75, 4),
                                .steps = 8,
                                .count = count,
                                .momentum = 0.9});
  // 8 chunks, of which 0.75 t / 4 are held back: the number sent is rounded up.
  const std::size_t sent[] = {8, 7, 5, 4, 2, 2, 2, 2};
  const auto chunks_moved = moved(done);
  for (int step = 0; step < 8; ++step) EXPECT_EQ(chunks_moved[step].size(), sent[step]) << step;
}

TEST(CoarseSparse, HoldsBackAWholeNumberOfChunksInSpiteOfRounding) {
  // 0.29 x 100 is 28.999999999999996 in floating point.
  Trial trial{.method = "coarse_sparse",
              .options = sparse(0.29, 0, 1),
              .steps = 2,
              .count = 100,
              .momentum = 0.9};
  const auto done = toy::train(trial);
  int still = 0;
  for (std::size_t k = 0; k < 100; ++k) still += done.after[1][0][k] == done.after[0][0][k];
  EXPECT_EQ(still, 29);
}

TEST(CoarseSparse, AChunkThatGrowsOnOneRankIsChosenOnAll) {
  struct Spike final : toy::Worker {
    using toy::Worker::Worker;
    void compute_gradients(Watch& watch) override {
      Watch nothing;
      toy::Worker::compute_gradients(nothing);
      if (group_.rank() == 2 && progress_.step == 3) gradients()[{30, 35}].fill(1e6);
      watch.ready({0, count});
    }
  };
  comm::Threads(4).run([](comm::Communicator& group) {
    const auto strategy = toy::make("coarse_sparse", sparse(0.85), group);
    Spike worker(group, count, 0.9);
    for (int step = 0; step < 5; ++step) {
      worker.progress_.step = step;
      const double before = worker.weights().as<double>()[30];
      strategy->step(worker);
      const double moved = worker.weights().as<double>()[30] - before;
      if (step == 4) {
        EXPECT_LT(moved, -1e3);
      }
      EXPECT_EQ(group.minimum(moved), group.maximum(moved));
    }
  });
}

TEST(CoarseSparse, ChoosesTheFirstChunksWhereAllAreAlike) {
  // As in a rehearsal, which has no values.
  struct Zero final : toy::Worker {
    using toy::Worker::Worker;
    void compute_gradients(Watch&) override { gradients().fill(0); }
    void update(base::Vector, base::Vector, base::Range range, double) override {
      ranges.push_back(range);
    }
    using strategy::Worker::update;
    std::vector<base::Range> ranges;
  };
  comm::Threads(2).run([](comm::Communicator& group) {
    const auto strategy = toy::make("coarse_sparse", sparse(0.75), group);
    Zero worker(group, count, 0.9);
    for (int step = 0; step < 3; ++step) {
      worker.progress_.step = step;
      strategy->step(worker);
    }
    EXPECT_EQ(worker.ranges, (std::vector<base::Range>{{0, count}, {0, 10}, {0, 10}}));
  });
}

TEST(CoarseSparse, WhatIsHeldBackFadesByTheMomentum) {
  // Under a constant gradient g a chunk that is sent after T steps brings g (1 - mu^T) / (1 - mu).
  struct Constant final : toy::Worker {
    using toy::Worker::Worker;
    void compute_gradients(Watch&) override { gradients().fill(1); }
    void update(base::Vector weights, base::Vector gradients, base::Range range, double) override {
      for (std::size_t k = range.begin; k < range.end; ++k)
        sent.push_back(gradients.as<double>()[k]);
      weights[range].add(gradients[range]);
    }
    using strategy::Worker::update;
    std::vector<double> sent;
  };
  comm::Threads(3).run([](comm::Communicator& group) {
    const auto strategy = toy::make("coarse_sparse", sparse(0.5, 0, 1), group);
    Constant worker(group, 2, 0.9);
    for (int step = 0; step < 9; ++step) {
      worker.progress_ = {.step = step, .samples = 1, .samples_of_all = 3};
      strategy->step(worker);
    }
    // Both; the first of equals, twice; then each chunk in turn with what it kept of two steps, and
    // at once again, because its norm was the largest.
    const double kept = (1 - 0.9 * 0.9 * 0.9) / (1 - 0.9);
    const std::vector<double> sent{1, 1, 1, 1, kept, 1, kept, 1, kept, 1};
    ASSERT_EQ(worker.sent.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_NEAR(worker.sent[i], sent[i], 1e-14) << i;
  });
}

TEST(CoarseSparse, WeighsEachRankByItsSamples) {
  const std::vector<double> weight{3. / 6, 1. / 6, 0, 2. / 6};
  Trial trial{.method = "coarse_sparse", .options = sparse(0.5), .count = count, .momentum = 0.9};
  trial.progress = [&](int rank, int, Progress& at) {
    at.samples = std::lround(6 * weight[std::size_t(rank)]);
    at.samples_of_all = 6;
  };
  Simulation rule(4, 0.9, [](int) { return std::size_t(4); });
  for (const Rows& after : toy::train(trial).after) {
    rule.step(weight);
    toy::expect_near(after, rule.all.w, 1e-12);
  }
}

TEST(CoarseSparse, SendsTheImportantChunksAndTheNorms) {
  constexpr std::uint64_t each = 100, number = 20, steps = 5, ranks = 4;
  const auto done = toy::train({.method = "coarse_sparse",
                                .options = sparse(0.85, 0, each),
                                .ranks = int(ranks),
                                .steps = int(steps),
                                .count = each * number,
                                .momentum = 0.9});
  // The first step is dense; of all ranks together 2 (p - 1) bytes for each of the vector.
  const std::uint64_t elements = each * number + (steps - 1) * 3 * each + steps * number;
  EXPECT_EQ(done.bytes, 2 * (ranks - 1) * sizeof(double) * elements);
}

TEST(CoarseSparse, WhatIsNoNumberReachesEveryone) {
  struct Broken final : toy::Worker {
    using toy::Worker::Worker;
    void compute_gradients(Watch& watch) override {
      toy::Worker::compute_gradients(watch);
      if (group_.rank() == 1 && progress_.step == 2)
        gradients()[{36, 37}].fill(std::numeric_limits<double>::quiet_NaN());
    }
  };
  comm::Threads(3).run([](comm::Communicator& group) {
    const auto strategy = toy::make("coarse_sparse", sparse(0.85), group);
    Broken worker(group, count, 0.9);
    for (int step = 0; step < 5; ++step) {
      worker.progress_ = {.step = step, .samples = 1, .samples_of_all = 3, .learning_rate = 0.1};
      strategy->step(worker);
    }
    EXPECT_TRUE(std::isnan(worker.weights().as<double>()[36]));
  });
}

TEST(CoarseSparse, Resumes) {
  toy::expect_resumes({.method = "coarse_sparse",
                       .options = sparse(0.75, 3),
                       .ranks = 3,
                       .steps = 7,
                       .count = count,
                       .momentum = 0.9});
}

TEST(CoarseSparse, RefusesWhatCannotBeMeant) {
  const Method& entry = method("coarse_sparse");
  entry.check_optimizer(0.9);
  entry.check_optimizer(0);
  EXPECT_THROW(entry.check_optimizer(std::nullopt), base::Error);
  try {
    entry.part(0, 1, {.node = {0}},
               base::Settings("coarse_sparse", entry.options, {{"sparsity", 1.0}}));
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("below 1"));
  }
}

}  // namespace
}  // namespace parajoule::strategy
