#pragma once

// Training on the toy problem with any method of the catalog, for tests: ranks are threads.

#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
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
  /// First weights.
  std::function<double(int rank, std::size_t k)> start = [](int, std::size_t) { return 0.0; };
  std::optional<int> resume_after = {};  ///< steps; then the method is saved, made anew and loaded
  /// Of a rank that trains, by its number, and step; unset fields are those of one sample a rank.
  std::function<void(int rank, int step, Progress&)> progress = [](int, int, Progress&) {};
};

/// Ranks that train, in the order of their numbers.
struct Trained {
  std::vector<Rows> after;      ///< [step][rank]: weights after each step
  Rows evaluated, finished;     ///< [rank]
  std::vector<double> buffers;  ///< [rank], that would be evaluated
  Rows told = {};               ///< of each rank that serves: the weights to evaluate
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

inline std::optional<int> number(const Trial& trial, const comm::Communicator& group, int rank) {
  const Method& chosen = method(trial.method);
  const base::Settings settings(trial.method, chosen.options, trial.options);
  return chosen.part(rank, group.size(), group.nodes(), settings).trains;
}

inline int count_trainers(const Trial& trial, const comm::Communicator& group) {
  int trainers = 0;
  for (int rank = 0; rank < group.size(); ++rank)
    trainers += number(trial, group, rank).has_value();
  return trainers;
}

inline std::vector<double> evaluate(Strategy& strategy, Worker& worker, comm::Communicator& group,
                                    double& buffer) {
  const base::Vector weights = worker.spare();
  const base::Vector buffers = group.allocate(base::Element::float64, 1);
  strategy.evaluation_weights(worker, weights, buffers);
  buffer = buffers.as<double>()[0];
  return row(weights);
}

/// One rank that trains, from its first step to its last; what it sent in them.
inline comm::Communicator::Traffic train(const Trial& trial, comm::Communicator& group,
                                         std::size_t trainer, int trainers, Trained& trained) {
  auto strategy = make(trial.method, trial.options, group);
  Worker worker(group, trial.count, trial.momentum, int(trainer));
  for (std::size_t k = 0; k < trial.count; ++k)
    worker.weights().as<double>()[k] = trial.start(int(trainer), k);
  for (int step = 0; step < trial.steps; ++step) {
    worker.progress_ = {
        .step = step, .samples = 1, .samples_of_all = trainers, .learning_rate = rate};
    trial.progress(int(trainer), step, worker.progress_);
    strategy->step(worker);
    trained.after[step][trainer] = row(worker.weights());
    if (trial.resume_after == step + 1) {
      strategy->leave(worker);
      strategy = resumed(*strategy, trial, group);
    }
  }
  strategy->leave(worker);
  const auto traffic = group.traffic();
  const auto before = row(worker.weights());
  trained.evaluated[trainer] = evaluate(*strategy, worker, group, trained.buffers[trainer]);
  // Where ranks serve, what is due from them is applied.
  if (trainers == group.size()) {
    const auto after = row(worker.weights());  // by their bits: what is no number is not equal
    EXPECT_EQ(std::memcmp(after.data(), before.data(), after.size() * sizeof(double)), 0);
  }
  strategy->finish(worker);
  trained.finished[trainer] = row(worker.weights());
  return traffic;
}

inline comm::Communicator::Traffic serve(const Trial& trial, comm::Communicator& group,
                                         Replicas::Row& told) {
  auto strategy = make(trial.method, trial.options, group);
  Worker worker(group, trial.count, trial.momentum);
  strategy->serve(worker);
  if (trial.resume_after) {
    strategy = resumed(*strategy, trial, group);
    strategy->serve(worker);
  }
  const auto traffic = group.traffic();
  double buffer = 0;
  told = evaluate(*strategy, worker, group, buffer);
  strategy->finish(worker);
  return traffic;
}

}  // namespace inside

inline Trained train(const Trial& trial) {
  const std::size_t ranks = trial.ranks;
  Trained trained{.after = std::vector<Rows>(trial.steps, Rows(ranks)),
                  .evaluated = Rows(ranks),
                  .finished = Rows(ranks),
                  .buffers = std::vector<double>(ranks)};
  std::vector<comm::Communicator::Traffic> traffic(ranks);
  Rows told(ranks);
  comm::Options options;
  options.ranks_per_node = trial.ranks_per_node;
  comm::Threads(trial.ranks, options).run([&](comm::Communicator& group) {
    const int trainers = inside::count_trainers(trial, group);
    const std::size_t rank = group.rank();
    if (const auto trainer = inside::number(trial, group, group.rank()))
      traffic[rank] = inside::train(trial, group, std::size_t(*trainer), trainers, trained);
    else
      traffic[rank] = inside::serve(trial, group, told[rank]);
  });
  for (const auto& row : told)
    if (!row.empty()) trained.told.push_back(row);
  const std::size_t trainers = ranks - trained.told.size();
  for (Rows* rows : {&trained.evaluated, &trained.finished}) rows->resize(trainers);
  for (Rows& rows : trained.after) rows.resize(trainers);
  trained.buffers.resize(trainers);
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

/// What all ranks together send in one sum, on nodes of one rank: 2 (n - 1) / n of the numbers, of
/// `bytes` each, for each rank (0.7 of the specifications).
inline std::uint64_t sum_bytes(int ranks, std::size_t count, std::size_t bytes = sizeof(double)) {
  return 2 * std::uint64_t(ranks - 1) * count * bytes;
}

/// What all ranks send in a call, counted, where the communicator chooses how.
inline std::uint64_t counted_bytes(
    int ranks, std::size_t count,
    const std::function<void(comm::Communicator&, base::Vector)>& call) {
  std::vector<std::uint64_t> bytes(static_cast<std::size_t>(ranks));
  comm::Threads(ranks).run([&](comm::Communicator& group) {
    call(group, group.allocate(base::Element::float64, count));
    bytes[group.rank()] = group.traffic().bytes;
  });
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t(0));
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
