// What a rank that fails, a value that is no number and ranks without samples do to a method: the
// same as to synchronous training. Nobody is left waiting.
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/error.h"
#include "comm/failing.h"
#include "strategy/toy_run.h"

namespace parajoule::strategy {
namespace {

using toy::Given;
using toy::Rows;
using toy::Trial;

struct Case {
  std::string_view name;
  std::string_view method;
  Given options;
  int trainers = 4;  ///< of four ranks
};

void PrintTo(const Case& value, std::ostream* out) { *out << value.name; }

class AMethod : public testing::TestWithParam<Case> {
 protected:
  static constexpr int steps = 6;

  static Trial trial() {
    return {.method = GetParam().method, .options = GetParam().options, .steps = steps};
  }

  /// Trains, or serves, on one rank.
  static void run(comm::Communicator& group, toy::Worker& worker) {
    const auto strategy = toy::make(GetParam().method, GetParam().options, group);
    if (group.rank() < GetParam().trainers) {
      for (int step = 0; step < steps; ++step) {
        worker.progress_ = {.step = step,
                            .samples = 1,
                            .samples_of_all = GetParam().trainers,
                            .learning_rate = toy::rate};
        strategy->step(worker);
      }
      strategy->leave(worker);
    } else {
      strategy->serve(worker);
    }
    strategy->finish(worker);
  }
};

TEST_P(AMethod, TellsAllRanksOfOneThatFails) {
  for (std::int64_t call : {1, 2, 3}) {
    std::vector<int> told(4, 0);
    const auto body = [&](comm::Communicator& world) {
      const bool breaks = world.rank() == 1;
      comm::Failing group(world, breaks ? call : -1, [] { throw std::runtime_error("disk full"); });
      toy::Worker worker(group, 3);
      try {
        run(group, worker);
      } catch (const base::Error& error) {
        EXPECT_EQ(error.fault, base::Fault::peer) << error.what();
        EXPECT_EQ(std::string(error.what()), "rank 1 failed: disk full");
        told[std::size_t(world.rank())] = 1;
        throw;
      }
    };
    EXPECT_THROW(comm::Threads(4).run(body), std::runtime_error);
    EXPECT_EQ(told, (std::vector{1, 0, 1, 1})) << "at call " << call;
  }
}

/// Has no number in its third step, on one rank.
struct Lost final : toy::Worker {
  using toy::Worker::Worker;
  void compute_gradients(Watch& watch) override {
    if (group_.rank() != 1 || progress_.step != 2) return toy::Worker::compute_gradients(watch);
    gradients().fill(std::numeric_limits<double>::quiet_NaN());
    watch.ready({0, gradients().count()});
  }
};

TEST_P(AMethod, CarriesWhatIsNoNumberToAllRanks) {
  comm::Threads(4).run([](comm::Communicator& group) {
    Lost worker(group, 3);
    run(group, worker);
    if (group.rank() < GetParam().trainers) {
      EXPECT_TRUE(std::isnan(worker.weights().as<double>()[0]));
    }
  });
}

TEST_P(AMethod, GoesOnWhereRanksHaveNoSamples) {
  // In the last step of each epoch only the first rank has any, and once nobody.
  Trial some = trial();
  some.progress = [](int trainer, int step, Progress& at) {
    if (step % 3 != 2) return;
    at.samples = trainer == 0 && step == 2;
    at.samples_of_all = step == 2;
  };
  const auto done = toy::train(some);
  for (const auto& weights : done.finished) {
    EXPECT_EQ(weights, done.finished[0]);
    for (double w : weights) EXPECT_TRUE(std::isfinite(w));
  }
}

TEST_P(AMethod, GoesDownTheMeanObjective) {
  Trial long_one = trial();
  long_one.steps = 60;
  const auto loss = [&](const toy::Replicas::Row& w) {
    double sum = 0;
    for (int r = 0; r < GetParam().trainers; ++r)
      for (std::size_t k = 0; k < w.size(); ++k)
        sum += toy::curvature(r) / 2 * std::pow(w[k] - toy::target(r, k), 2);
    return sum;
  };
  EXPECT_LT(loss(toy::train(long_one).finished[0]), loss(toy::Replicas::Row(3)));
}

Case synchronous(std::string_view overlap) {
  return {overlap,
          "synchronous",
          {{"overlap", std::string(overlap)}, {"merge_bytes", std::int64_t(8)}}};
}

INSTANTIATE_TEST_SUITE_P(
    Each, AMethod,
    testing::Values(
        synchronous("none"), synchronous("layer"), synchronous("merged"), synchronous("lazy"),
        Case{"pipe_sgd", "pipe_sgd", {{"width", std::int64_t(3)}}},
        Case{"hierarchical_parallel_sgd",
             "hierarchical_parallel_sgd",
             {{"period", std::int64_t(2)}}},
        Case{"delayed_averaging", "delayed_averaging", {}},
        Case{"coarse_sparse", "coarse_sparse", {{"chunk", std::int64_t(1)}, {"sparsity", 0.5}}},
        Case{"lsgd", "lsgd", {}, 3}, Case{"local_sgd", "local_sgd", {{"period", std::int64_t(2)}}},
        Case{"oldsgd",
             "oldsgd",
             {{"period", std::int64_t(2)}, {"topology", std::string("complete")}}}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace parajoule::strategy
