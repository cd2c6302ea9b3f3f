#pragma once

// Everything one rank holds while it trains, made from an experiment.

#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "comm/communicator.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "data/order.h"
#include "nn/net.h"
#include "nn/precision.h"
#include "nn/replica.h"
#include "nn/task.h"
#include "optimize/optimizer.h"
#include "schedule/layout.h"
#include "strategy/catalog.h"
#include "strategy/rounds.h"
#include "strategy/strategy.h"
#include "train/batches.h"
#include "train/evaluation.h"
#include "train/experiment.h"
#include "train/fault.h"
#include "train/learning_rate.h"
#include "train/phases.h"
#include "train/timed.h"
#include "train/worker.h"

namespace parajoule::train {

class Job {
 public:
  /// Opens the data, makes the model with its first weights, and gives it memory of `group`.
  Job(const Experiment& experiment, comm::Communicator& group);

  bool all_train() const { return int(trainers.size()) == group.size(); }
  /// Whether all that train take the same number of steps.
  bool one_pace() const { return rounds.length == 1; }
  /// The samples this rank takes in `epoch`, before which the quickest took `before` steps; of a
  /// rank that serves, those of the first that trains.
  data::Shards shards(std::int64_t epoch, std::int64_t before) const;
  /// Reads them, from `first_step` of the epoch on.
  void begin_epoch(const data::Shards& shards, std::int64_t epoch, std::int64_t first_step);
  data::Loader::Options loader_options() const;

  /// Of the training or the validation set, as the experiment wants it looked at.
  Evaluation evaluation(const data::Dataset& dataset, std::int64_t epoch);

  /// Collective. The net that is evaluated: a second one, bound to copies that the method fills,
  /// with the running statistics that the experiment's policy chooses.
  nn::Net& fill_evaluated();

  /// Everything that changes in training but the position in it, under the names of its parts.
  static constexpr std::string_view parts[] = {"model",    "optimizer",  "strategy",
                                               "schedule", "loss_scale", "samples"};
  void save(base::Archive& archive);
  void load(std::string_view part, const base::Archive& archive);

  const Experiment& experiment;
  Phases phases;
  InjectedFault fault;
  Timed group;  ///< what the method speaks through
  const strategy::Method& method;
  strategy::Part part;
  strategy::Rounds rounds;    ///< who takes which steps
  std::vector<int> trainers;  ///< the ranks that train, in the order of their numbers
  std::unique_ptr<comm::Communicator> together;  ///< the ranks that train; none on one that serves
  std::unique_ptr<data::Dataset> training, validation;
  Batches batches;
  nn::Precision precision;
  nn::LossScale loss_scale;
  base::Element element;
  std::unique_ptr<nn::Task> task;
  nn::Net net, evaluated;
  data::Axes axes;
  schedule::Layout layout;
  nn::Replica replica, copies;
  std::deque<std::vector<double>>
      optimizer_blocks;  ///< its state: of this rank alone, never summed
  std::unique_ptr<optimize::Optimizer> optimizer;
  LearningRate rate;
  std::unique_ptr<strategy::Strategy> strategy;
  ModelWorker worker;

 private:
  base::Vector optimizer_memory(std::size_t count);
};

}  // namespace parajoule::train
