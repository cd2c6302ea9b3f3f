#pragma once

// The learning rate (and the batch size) as a function of the samples taken: linear scaling,
// warm-up, and one of the schedules of the table below.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/settings.h"

namespace parajoule::train {

/// How far training has come: whole epochs, and `samples` of the `of` that the epoch under way has.
/// Ranks whose updates are added together must ask with equal numbers, or their replicas drift
/// apart: count the samples of the update, not those of one rank.
struct Taken {
  std::int64_t epochs = 0;
  std::int64_t samples = 0;
  std::int64_t of = 1;
  double position() const { return double(epochs) + double(samples) / double(of); }
};

/// What becomes of the full rate, the one that warm-up leads to.
class Schedule {
 public:
  virtual ~Schedule() = default;

  /// The rate as a multiple of the full rate.
  virtual double factor(const Taken& taken) const = 0;

  /// The global batch of epoch `epoch` (from 0) as a multiple of the first epoch's.
  virtual std::int64_t batch_factor(std::int64_t /*epoch*/) const { return 1; }

  /// Told at the end of each epoch after warm-up: a loss that all ranks agree on.
  virtual void epoch_ended(double /*loss*/) {}

  virtual void save(base::Archive&) const {}
  virtual void load(const base::Archive&) {}
};

/// A row of the table of schedules. `warmup_epochs` and `warmup` are options of each of them.
struct NamedSchedule {
  std::string_view name;  ///< as in `schedule = "plateau"`
  std::string_view summary;
  std::string_view paper;
  std::vector<base::Option> options;
  /// `epochs`: of the whole run. Throws Error{usage} when options do not fit together.
  std::unique_ptr<Schedule> (*make)(const base::Settings& settings, std::int64_t epochs);
};

std::span<const NamedSchedule> schedules();

/// Throws Error{usage} that names the known ones.
const NamedSchedule& schedule(std::string_view name);

/// The rate of each update. Linear scaling and gradual warm-up: P. Goyal et al., "Accurate, Large
/// Minibatch SGD: Training ImageNet in 1 Hour", arXiv:1706.02677, sections 2.1 and 2.2.
///
///   full rate  = learning_rate * global_batch_size / reference_batch_size
///   in warm-up = learning_rate + (e / warmup_epochs) (full rate - learning_rate)
///
/// where e is the position in epochs: of each update (`warmup = "iteration"`, Goyal et al.), or
/// rounded down to whole epochs (`warmup = "epoch"`).
class LearningRate {
 public:
  struct Options {
    double learning_rate = 0.1;              ///< at the reference batch size
    std::int64_t reference_batch_size = 64;  ///< samples
    std::int64_t global_batch_size = 64;     ///< samples of an update in the first epoch
    std::int64_t epochs = 1;                 ///< of the whole run
  };

  /// `settings`: of the schedule called `name`.
  LearningRate(std::string_view name, const base::Settings& settings, const Options& options);

  /// The rate of the update that comes after `taken`.
  double at(const Taken& taken) const;

  /// Global batch size of epoch `epoch` (from 0) in samples.
  std::int64_t global_batch_size(std::int64_t epoch) const;

  /// At the end of epoch `epoch` (from 0), with a loss that all ranks agree on.
  void epoch_ended(std::int64_t epoch, double loss);

  /// Throws Error{input} when the checkpoint is of another schedule.
  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  enum class WarmUp { iteration, epoch };

  std::string name_;
  Options options_;
  double full_rate_;
  std::int64_t warmup_epochs_;
  WarmUp warmup_;
  std::unique_ptr<Schedule> schedule_;
};

}  // namespace parajoule::train
