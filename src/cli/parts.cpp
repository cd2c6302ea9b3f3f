#include "cli/parts.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/experiment.h"
#include "comm/options.h"
#include "data/catalog.h"
#include "nn/backend.h"
#include "nn/catalog.h"
#include "nn/precision.h"
#include "optimize/catalog.h"
#include "train/learning_rate.h"

namespace parajoule::cli {
namespace {

namespace fs = std::filesystem;

void make_folder(const std::string& folder, std::string_view key) {
  std::error_code error;
  fs::create_directories(folder, error);
  const bool writable = !error && access(folder.c_str(), W_OK | X_OK) == 0;
  if (writable) return;
  throw base::Error(base::Fault::environment,
                    fmt::format("{0} = {1}: cannot be written: {2}; name another folder with the "
                                "key `{0}`",
                                key, folder, error ? error.message() : std::strerror(errno)));
}

void make_model(const train::Choice& model, const data::Dataset& training) {
  const data::Shape shape = training.shape();
  nn::model(model.name)
      .make(model.settings, {shape.channels, shape.height, shape.width}, int(training.classes()));
}

/// Of no weights: what its settings allow does not depend on them.
void make_optimizer(const train::Choice& optimizer) {
  optimize::optimizer(optimizer.name).make(optimizer.settings, {}, [](std::size_t) {
    return base::Vector();
  });
}

void make_rate(const train::Experiment& experiment) {
  train::LearningRate(experiment.schedule.name, experiment.schedule.settings,
                      {.learning_rate = experiment.learning_rate,
                       .reference_batch_size = experiment.reference_batch_size,
                       .global_batch_size = experiment.global_batch_size,
                       .epochs = experiment.epochs});
}

}  // namespace

void make_parts(const train::Experiment& experiment) {
  // What costs nothing first.
  comm::check({.stall = experiment.stall,
               .give_up = experiment.give_up,
               .ranks_per_node = experiment.ranks_per_node});
  nn::precision(experiment.precision);
  make_rate(experiment);
  make_optimizer(experiment.optimizer);
  const auto& kind = data::kind(experiment.data.name);
  const auto training = kind.open(experiment.data.settings, data::Split::training);
  check_samples(experiment, training->size());
  data::need_alike(*training, *kind.open(experiment.data.settings, data::Split::validation));
  make_model(experiment.model, *training);
}

void make_folders(const train::Experiment& experiment) {
  make_folder(experiment.records, "records");
  make_folder(experiment.checkpoints, "checkpoints");
}

BackendFacts backend_here() {
  const nn::Backend backend = nn::backend();
  return {.torch = backend.torch, .blas = backend.blas, .kernel = backend.kernel};
}

std::optional<BetterKernel> better_kernel_here() {
  return better_kernel(
      {.kernel = nn::backend().kernel, .avx2 = __builtin_cpu_supports("avx2") != 0}, environment);
}

}  // namespace parajoule::cli
