#pragma once

// Training on the toy problem with any method of the catalog, for tests: ranks are threads.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "comm/threads.h"
#include "strategy/catalog.h"
#include "strategy/toy_worker.h"

namespace parajoule::strategy::toy {

using Given = std::map<std::string, base::Value>;
using Rows = std::vector<Replicas::Row>;

inline std::unique_ptr<Strategy> make(std::string_view name, const Given& given,
                                      comm::Communicator& group) {
  const Method& chosen = method(name);
  return chosen.make(group, base::Settings(name, chosen.options, given));
}

struct Trial {
  std::string_view method;
  Given options = {};
  int ranks = 4;
  int steps = 10;
  std::size_t count = 3;  ///< parameters
  double momentum = 0;
  std::optional<int> ranks_per_node = {};
  std::optional<int> resume_after = {};  ///< steps; then the method is saved, made anew and loaded
  /// Of rank and step; unset fields are those of one sample a rank.
  std::function<void(int rank, int step, Progress&)> progress = [](int, int, Progress&) {};
};

struct Trained {
  std::vector<Rows> after;      ///< [step][rank]: weights after each step
  Rows evaluated, finished;     ///< [rank]
  std::vector<double> buffers;  ///< [rank], that would be evaluated
  std::uint64_t bytes = 0;      ///< of all ranks in all steps
  std::uint64_t messages = 0;
  const Rows& last() const { return after.back(); }
};

namespace inside {

inline Replicas::Row row(base::Vector vector) {
  const auto values = vector.as<double>();
  return {values.begin(), values.end()};
}

inline std::unique_ptr<Strategy> resumed(Strategy& strategy, const Trial& trial,
                                         comm::Communicator& group) {
  base::Archive archive;
  strategy.save(archive);
  auto made = make(trial.method, trial.options, group);
  made->load(archive);
  // What was loaded and not used yet is kept.
  base::Archive again;
  made->save(again);
  EXPECT_EQ(again.entries(), archive.entries());
  return made;
}

inline void evaluate_and_finish(Strategy& strategy, Worker& worker, comm::Communicator& group,
                                Trained& trained) {
  const std::size_t r = group.rank();
  const auto before = row(worker.weights());
  const base::Vector weights = worker.spare();
  const base::Vector buffers = group.allocate(base::Element::float64, 1);
  strategy.evaluation_weights(worker, weights, buffers);
  EXPECT_EQ(row(worker.weights()), before);
  trained.evaluated[r] = row(weights);
  trained.buffers[r] = buffers.as<double>()[0];
  strategy.finish(worker);
  trained.finished[r] = row(worker.weights());
}

}  // namespace inside

inline Trained train(const Trial& trial) {
  const std::size_t ranks = trial.ranks;
  Trained trained{.after = std::vector<Rows>(trial.steps, Rows(ranks)),
                  .evaluated = Rows(ranks),
                  .finished = Rows(ranks),
                  .buffers = std::vector<double>(ranks)};
  std::vector<comm::Communicator::Traffic> traffic(ranks);
  comm::Options options;
  options.ranks_per_node = trial.ranks_per_node;
  comm::Threads(trial.ranks, options).run([&](comm::Communicator& group) {
    auto strategy = make(trial.method, trial.options, group);
    Worker worker(group, trial.count, trial.momentum);
    for (int step = 0; step < trial.steps; ++step) {
      worker.progress_ = {
          .step = step, .samples = 1, .samples_of_all = trial.ranks, .learning_rate = rate};
      trial.progress(group.rank(), step, worker.progress_);
      strategy->step(worker);
      trained.after[step][group.rank()] = inside::row(worker.weights());
      if (trial.resume_after == step + 1) strategy = inside::resumed(*strategy, trial, group);
    }
    traffic[group.rank()] = group.traffic();
    inside::evaluate_and_finish(*strategy, worker, group, trained);
  });
  for (const auto& own : traffic) {
    trained.bytes += own.bytes;
    trained.messages += own.messages;
  }
  return trained;
}

inline void expect_near(const Rows& ours, const Rows& theirs, double tolerance = 1e-13) {
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t r = 0; r < ours.size(); ++r) {
    ASSERT_EQ(ours[r].size(), theirs[r].size());
    for (std::size_t k = 0; k < ours[r].size(); ++k)
      EXPECT_NEAR(ours[r][k], theirs[r][k], tolerance) << "rank " << r << ", parameter " << k;
  }
}

/// The first parameter of each rank: what the specifications print.
inline std::vector<double> first(const Rows& rows) {
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[0]);
  return values;
}

/// Saved and loaded after any of its steps, the method goes on as if nothing had been.
inline void expect_resumes(Trial trial) {
  const Trained whole = train(trial);
  for (int step = 1; step < trial.steps; ++step) {
    trial.resume_after = step;
    const Trained halves = train(trial);
    EXPECT_EQ(halves.after, whole.after) << "after step " << step;
    EXPECT_EQ(halves.finished, whole.finished) << "after step " << step;
  }
}

}  // namespace parajoule::strategy::toy
