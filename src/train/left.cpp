#include "train/left.h"

#include <algorithm>
#include <limits>

namespace parajoule::train {

Left left_of(const Job& job, const Position& at) {
  const Experiment& experiment = job.experiment;
  const data::Shards shares = job.shards(at.epoch, at.steps - at.step);
  const std::int64_t steps_left = experiment.steps
                                      ? *experiment.steps - at.steps
                                      : std::numeric_limits<std::int64_t>::max() - at.step;
  const double samples = double(shares.samples);
  const double epochs_left = double(experiment.epochs - at.epoch);
  // A forward pass is about a third of a step.
  const double evaluated =
      double(job.validation->size()) + (experiment.evaluate_training_set ? samples : 0);
  const double to_the_last_epoch =
      epochs_left * (samples + evaluated / 3) - double(shares.taken(at.step));
  const double a_step = samples / double(shares.steps());
  const double to_the_last_step = double(steps_left) * a_step + evaluated / 3;
  return {.last_step = std::min(shares.steps(), at.step + steps_left),
          .samples = std::min(to_the_last_epoch, to_the_last_step)};
}

}  // namespace parajoule::train
