#include "train/state.h"

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/archived.h"

namespace parajoule::train {
namespace {

/// What must be equal for a checkpoint to be taken up: changing any of these in the middle would
/// give a run that is neither the one nor the other.
std::map<std::string, std::string> identity(const Experiment& experiment) {
  std::map<std::string, std::string> identity{
      {"seed", fmt::to_string(experiment.seed)},
      {"precision", experiment.precision},
      {"global_batch_size", fmt::to_string(experiment.global_batch_size)}};
  const auto add = [&](std::string_view key, const Choice& choice) {
    std::string text = choice.name;
    for (const auto& [name, entry] : choice.settings.entries())
      text += fmt::format(" {}={}", name, base::written(entry.value));
    identity[std::string(key)] = text;
  };
  add("model", experiment.model);
  add("data", experiment.data);
  add("strategy", experiment.strategy);
  add("optimizer", experiment.optimizer);
  add("schedule", experiment.schedule);
  return identity;
}

void save(base::Archive& archive, const Position& position) {
  archive.put("position.epoch", position.epoch);
  archive.put("position.step", position.step);
  archive.put("position.steps", position.steps);
  archive.put("position.loss_sum", position.loss_sum);
  archive.put("position.loss_samples", position.loss_samples);
  archive.put("position.last_loss", position.last_loss);
}

Position load_position(const base::Archive& archive) {
  return {.epoch = archive.whole("position.epoch"),
          .step = archive.whole("position.step"),
          .steps = archive.whole("position.steps"),
          .loss_sum = archive.number("position.loss_sum"),
          .loss_samples = archive.number("position.loss_samples"),
          .last_loss = archive.number("position.last_loss")};
}

double fingerprint(const base::Archive::Entry& entry) {
  const std::string_view bytes(reinterpret_cast<const char*>(entry.bytes.data()),
                               entry.bytes.size());
  return double(std::hash<std::string_view>{}(bytes) >> 12);  // 52 bits: exact in a double
}

/// Takes out of `all` what differs between ranks.
base::Archive take_own(base::Archive& all, comm::Communicator& group) {
  std::vector<double> least, most;
  for (const auto& [name, entry] : all.entries()) least.push_back(fingerprint(entry));
  most = least;
  group.minimum(base::Vector(std::span(least)));
  group.maximum(base::Vector(std::span(most)));
  base::Archive own;
  std::size_t i = 0;
  for (auto entry = all.entries().begin(); entry != all.entries().end(); ++i) {
    const auto next = std::next(entry);
    if (least[i] != most[i]) own.entries().insert(all.entries().extract(entry));
    entry = next;
  }
  return own;
}

}  // namespace

Checkpoint gather(Job& job, const Position& position) {
  Checkpoint checkpoint;
  checkpoint.number = position.steps + position.epoch;
  job.save(checkpoint.shared);
  // A rank that serves has nothing in common with the others.
  base::Archive own = job.together ? take_own(checkpoint.shared, *job.together)
                                   : std::exchange(checkpoint.shared, {});
  std::string differing;
  for (const std::string_view part : Job::parts)
    if (!own.part(part).entries().empty()) differing += fmt::format("{} ", part);
  checkpoint.shared.put("differing", std::string_view(differing));
  const bool replicas_differ = job.together && differing.find("model") != std::string::npos;
  if (job.group.maximum(double(replicas_differ)) > 0) {
    base::Archive evaluated;
    nn::save(job.fill_evaluated(), evaluated);
    checkpoint.shared.nest("evaluated", evaluated);
  }
  if (job.group.maximum(double(!own.entries().empty())) > 0) checkpoint.own = std::move(own);
  save(checkpoint.shared, position);
  for (const auto& [key, value] : identity(job.experiment))
    checkpoint.shared.put("identity." + key, std::string_view(value));
  return checkpoint;
}

namespace {

void check_identity(const Experiment& experiment, const base::Archive& shared) {
  for (const auto& [key, value] : identity(experiment)) {
    const std::string stored = shared.text("identity." + key);
    if (stored == value) continue;
    throw base::Error(
        base::Fault::input,
        fmt::format(
            "{}: holds a checkpoint of another experiment: {} was '{}' and is now '{}'; give "
            "this run another name, or remove the folder to start anew",
            experiment.folder, key, stored, value));
  }
}

}  // namespace

std::vector<std::string> take_up(Job& job, Position& position,
                                 const Checkpoints::Restored& restored) {
  const base::Archive& shared = restored.checkpoint.shared;
  check_identity(job.experiment, shared);
  position = load_position(shared);
  base::Archive all = shared;
  if (restored.ranks_with_own == 0 || restored.ranks_with_own == job.group.size()) {
    if (restored.checkpoint.own)
      for (const auto& [name, entry] : restored.checkpoint.own->entries())
        all.entries().insert_or_assign(name, entry);
    for (const std::string_view part : Job::parts) job.load(part, all.part(part));
    return {};
  }
  if (!job.one_pace())
    throw base::Error(
        base::Fault::input,
        fmt::format("{}: holds a checkpoint of {} ranks, now {}, and with {} they take different "
                    "numbers of steps, so an epoch cannot be shared out anew: start with {} ranks, "
                    "give this run another name, or remove the folder to start anew",
                    job.experiment.folder, restored.ranks_with_own, job.group.size(),
                    job.experiment.strategy.name, restored.ranks_with_own));
  const std::string differing = shared.text("differing");
  for (const std::string_view part : Job::parts) {
    const bool differs = differing.find(part) != std::string::npos;
    if (!differs)
      job.load(part, all.part(part));
    else if (part == "model")
      job.load(part, all.part("evaluated"));
  }
  return {fmt::format(
      "the checkpoint is of {} ranks, now {}: what each had of its own ({}) is dropped, "
      "and the model goes on from the weights that are evaluated",
      restored.ranks_with_own, job.group.size(),
      differing.substr(0, differing.find_last_not_of(' ') + 1))};
}

}  // namespace parajoule::train
