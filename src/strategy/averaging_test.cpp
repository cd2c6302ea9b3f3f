// What every method that averages weights must hold, one after the other.

#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/failing.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Trial;

constexpr std::int64_t three = 3;

std::vector<Trial> trials(int ranks) {
  std::vector<Trial> all{
      {.method = "local_sgd", .options = {{"period", three}}},
      {.method = "post_local_sgd", .options = {{"period", three}, {"from_epoch", std::int64_t(1)}}},
      {.method = "delayed_averaging"},
      {.method = "cocod_sgd", .options = {{"period", three}}},
      {.method = "overlap_local_sgd", .options = {{"period", three}}},
      {.method = "oldsgd", .options = {{"period", three}}},
      {.method = "oldsgd", .options = {{"period", three}, {"topology", std::string("complete")}}},
      {.method = "biased_local_sgd", .options = {{"fast_steps", three}}},
      {.method = "daso", .options = {{"warmup_epochs", std::int64_t(1)}}},
      {.method = "daso",
       .options = {{"warmup_epochs", std::int64_t(0)}, {"global_skip", std::int64_t(1)}}}};
  for (Trial& trial : all) {
    trial.ranks = ranks;
    trial.steps = 13;
    trial.momentum = 0.9;
    if (ranks % 2 == 0) trial.ranks_per_node = 2;
    trial.progress = [ranks](int rank, int step, Progress& progress) {
      progress.epoch = step / 4;
      progress.epochs = 4;
      progress.loss = 1;
      progress.last_of_epoch = step % 4 == 3 && step > 5;
      progress.samples = step % 4 == 3 && rank > 0 ? 0 : 1;  // a last batch of one sample
      progress.samples_of_all = step % 4 == 3 ? 1 : ranks;
    };
  }
  return all;
}

TEST(Averaging, GoesOnFromACheckpointAfterAnyStep) {
  for (const int ranks : {1, 3, 4})
    for (const Trial& trial : trials(ranks)) {
      SCOPED_TRACE(std::string(trial.method) + " " + std::to_string(ranks));
      toy::expect_resumes(trial);
    }
}

TEST(Averaging, EndsWithOneMeanOnAllRanks) {
  for (const int ranks : {1, 2, 3, 4, 5, 8})
    for (const Trial& trial : trials(ranks)) {
      SCOPED_TRACE(std::string(trial.method) + " " + std::to_string(ranks));
      const auto done = toy::train(trial);
      toy::expect_near(done.finished, toy::Rows(ranks, toy::mean(done.last())));
      toy::expect_near(done.evaluated, done.finished);
      for (const auto& row : done.finished) EXPECT_EQ(row, done.finished[0]);
      for (const double buffer : done.buffers) EXPECT_NEAR(buffer, (ranks - 1) / 2.0, 1e-14);
    }
}

/// Trains a little, and at its n-th call rank 1 of three leaves.
std::vector<std::optional<base::Fault>> faults(const Trial& trial, std::int64_t call) {
  std::vector<std::optional<base::Fault>> faults(3);
  const auto body = [&](comm::Communicator& world) {
    comm::Failing failing(world, world.rank() == 1 ? call : 1 << 20,
                          [] { throw std::runtime_error("gone"); });
    try {
      const auto strategy = toy::make(trial.method, trial.options, failing);
      toy::Worker worker(world, 3);
      for (int step = 0; step < trial.steps; ++step) {
        worker.progress_ = {.step = step, .samples = 1, .samples_of_all = 3, .learning_rate = 0.1};
        strategy->step(worker);
      }
      strategy->finish(worker);
      world.barrier();
    } catch (const base::Error& error) {
      faults[world.rank()] = error.fault;
      throw;
    }
  };
  EXPECT_THROW(comm::Threads(3).run(body), std::runtime_error);
  return faults;
}

TEST(Averaging, TellsTheOthersWhenARankIsGone) {
  for (const Trial& trial : trials(3)) {
    for (const std::int64_t call : {1, 2, 3}) {
      SCOPED_TRACE(std::string(trial.method) + " " + std::to_string(call));
      const auto told = faults(trial, call);
      for (const int rank : {0, 2}) EXPECT_EQ(told[rank], base::Fault::peer) << rank;
    }
  }
}

TEST(Averaging, DoesNotHideWhatIsNoNumber) {
  for (Trial trial : trials(4)) {
    SCOPED_TRACE(trial.method);
    trial.start = [](int rank, std::size_t) {
      return rank == 2 ? std::numeric_limits<double>::quiet_NaN() : 0;
    };
    const auto done = toy::train(trial);
    for (const auto& row : done.finished)
      for (const double w : row) EXPECT_TRUE(std::isnan(w));
  }
}

}  // namespace
}  // namespace parajoule::strategy
