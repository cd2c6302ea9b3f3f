#include "train/job.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "data/catalog.h"
#include "nn/archived.h"
#include "nn/catalog.h"
#include "nn/initialise.h"
#include "nn/precision.h"
#include "optimize/catalog.h"

namespace parajoule::train {
namespace {

strategy::Part part_of(const Experiment& experiment, const comm::Communicator& group, int rank) {
  return strategy::method(experiment.strategy.name)
      .part(rank, group.size(), group.nodes(), experiment.strategy.settings);
}

strategy::Rounds rounds_of(const Experiment& experiment, const comm::Communicator& group) {
  std::vector<strategy::Part> parts;
  for (int r = 0; r < group.size(); ++r) parts.push_back(part_of(experiment, group, r));
  return strategy::rounds_of(parts);
}

std::vector<int> trainers_of(const Experiment& experiment, const comm::Communicator& group) {
  std::vector<std::pair<int, int>> numbered;
  for (int r = 0; r < group.size(); ++r)
    if (const auto number = part_of(experiment, group, r).trains) numbered.emplace_back(*number, r);
  std::ranges::sort(numbered);
  std::vector<int> trainers;
  for (const auto& [number, rank] : numbered) trainers.push_back(rank);
  return trainers;
}

std::unique_ptr<data::Dataset> open(const Experiment& experiment, data::Split split) {
  return data::kind(experiment.data.name).open(experiment.data.settings, split);
}

nn::Net make_net(const Experiment& experiment, const data::Dataset& dataset) {
  const data::Shape shape = dataset.shape();
  return nn::model(experiment.model.name)
      .make(experiment.model.settings,
            nn::Input{.channels = shape.channels, .height = shape.height, .width = shape.width},
            int(dataset.classes()));
}

nn::Net initialised(nn::Net net, std::uint64_t seed) {
  nn::initialise(net, seed);
  return net;
}

nn::Replica bound(nn::Net& net, nn::Replica replica) {
  nn::bind(net, replica);
  return replica;
}

}  // namespace

Job::Job(const Experiment& experiment, comm::Communicator& world)
    : experiment(experiment),
      fault(InjectedFault::of_environment(world.rank())),
      group(world, phases, fault),
      method(strategy::method(experiment.strategy.name)),
      part(part_of(experiment, world, world.rank())),
      rounds(rounds_of(experiment, world)),
      trainers(trainers_of(experiment, world)),
      together(part.trains ? world.group(trainers) : nullptr),
      training(open(experiment, data::Split::training)),
      validation(open(experiment, data::Split::validation)),
      batches(*training),
      precision(nn::precision(experiment.precision)),
      loss_scale(precision),
      element(nn::element_of(precision)),
      task(nn::classification(int(training->classes()))),
      net(initialised(make_net(experiment, *training), experiment.seed)),
      evaluated(make_net(experiment, *training)),
      axes(net.order() == nn::Order::channels_last ? data::Axes::channels_last
                                                   : data::Axes::channels_first),
      layout(nn::layout_of(net)),
      replica(bound(net, allocate_replica(world, layout, element))),
      copies{.weights = world.allocate(element, layout.parameter_count()),
             .gradients = {},
             .buffers = world.allocate(element, layout.buffer_count())},
      optimizer(optimize::optimizer(experiment.optimizer.name)
                    .make(experiment.optimizer.settings, layout,
                          [this](std::size_t count) { return optimizer_memory(count); })),
      rate(experiment.schedule.name, experiment.schedule.settings,
           {.learning_rate = experiment.learning_rate,
            .reference_batch_size = experiment.reference_batch_size,
            .global_batch_size = experiment.global_batch_size,
            .epochs = experiment.epochs}),
      strategy(method.make(group, experiment.strategy.settings)),
      worker({.group = group,
              .net = net,
              .replica = replica,
              .layout = layout,
              .task = *task,
              .optimizer = *optimizer,
              .momentum = optimize::momentum(experiment.optimizer.settings),
              .phases = phases,
              .fault = fault,
              .precision = precision,
              .on_no_gradient = experiment.on_no_gradient,
              .loss_scale = loss_scale,
              .batches = batches,
              .samples = training->size()}) {
  base::ensure(trainers.front() == 0, "rank 0 tells what is shared: it trains");
  data::need_alike(*training, *validation);
  nn::bind(evaluated, copies);
}

base::Vector Job::optimizer_memory(std::size_t count) {
  const std::size_t bytes = count * base::bytes_of(element);
  auto& block = optimizer_blocks.emplace_back((bytes + sizeof(double) - 1) / sizeof(double));
  return {block.data(), count, element};
}

data::Shards Job::shards(std::int64_t epoch, std::int64_t before) const {
  data::Shards shards{.samples = training->size(),
                      .global_batch_size = rate.global_batch_size(epoch),
                      .ranks = int(trainers.size()),
                      .rank = part.trains.value_or(0),
                      .round = rounds.length,
                      .before = before};
  if (one_pace()) return shards;
  for (const int rank : trainers) shards.paces.push_back(rounds.steps[std::size_t(rank)]);
  return shards;
}

data::Loader::Options Job::loader_options() const {
  return {.threads = experiment.loader_threads, .on_bad_sample = experiment.on_bad_sample};
}

void Job::begin_epoch(const data::Shards& shards, std::int64_t epoch, std::int64_t first_step) {
  base::ensure(part.trains.has_value(), "a rank that serves takes no samples");
  data::Loader::Options options = loader_options();
  options.view = data::View::training(experiment.seed, epoch);
  options.view.axes = axes;
  batches.begin(data::training_pass(shards, experiment.seed, epoch, first_step), options);
}

Evaluation Job::evaluation(const data::Dataset& dataset, std::int64_t epoch) {
  data::View view = experiment.augment_validation ? data::View::training(experiment.seed, epoch)
                                                  : data::View::evaluation();
  view.axes = axes;
  return {group,
          dataset,
          *task,
          {.chunk_size = experiment.evaluation_batch_size,
           .view = view,
           .precision = precision,
           .loader = loader_options()}};
}

nn::Net& Job::fill_evaluated() {
  strategy->evaluation_weights(worker, copies.weights, copies.buffers);
  if (experiment.buffers == Buffers::first)
    group.broadcast(copies.buffers, trainers.front());
  else
    group.sum(copies.buffers, part.trains ? 1.0 / double(trainers.size()) : 0);
  return evaluated;
}

void Job::save(base::Archive& archive) {
  const auto nested = [&](std::string_view prefix, const auto& fill) {
    base::Archive part;
    fill(part);
    archive.nest(prefix, part);
  };
  nested("model", [&](base::Archive& part) { nn::save(net, part); });
  nested("optimizer", [&](base::Archive& part) { optimizer->save(part); });
  nested("strategy", [&](base::Archive& part) { strategy->save(part); });
  nested("schedule", [&](base::Archive& part) { rate.save(part); });
  nested("loss_scale", [&](base::Archive& part) { loss_scale.save(part); });
  nested("samples", [&](base::Archive& part) { worker.save(part); });
}

void Job::load(std::string_view part, const base::Archive& archive) {
  if (part == "model") nn::load(net, archive);
  if (part == "optimizer") optimizer->load(archive);
  if (part == "strategy") strategy->load(archive);
  if (part == "schedule") rate.load(archive);
  if (part == "loss_scale") loss_scale.load(archive);
  if (part == "samples") worker.load(archive);
}

}  // namespace parajoule::train
