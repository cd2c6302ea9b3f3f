// How coarse-grained sparse communication chooses and sums its chunks; its rule is tested in
// test/methods.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using testing::HasSubstr;
using toy::Given;
using toy::Trial;

constexpr std::size_t count = 37;
constexpr std::size_t chunk = 5;  // the last one of eight has two elements

Given sparse(double sparsity, std::int64_t warmup_steps = 0, std::int64_t chunk_size = chunk,
             std::int64_t threshold_bytes = 1'000'000) {
  return {{"sparsity", sparsity},
          {"chunk", chunk_size},
          {"warmup_steps", warmup_steps},
          {"threshold_bytes", threshold_bytes}};
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
