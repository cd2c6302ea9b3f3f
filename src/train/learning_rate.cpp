#include "train/learning_rate.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"

namespace parajoule::train {

const NamedSchedule& schedule(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedSchedule& row : schedules()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw base::Error(base::Fault::usage,
                    fmt::format("unknown schedule '{}'{}", name, base::hint(name, names)));
}

LearningRate::LearningRate(std::string_view name, const base::Settings& settings,
                           const Options& options)
    : name_(name),
      options_(options),
      full_rate_(options.learning_rate * double(options.global_batch_size) /
                 double(options.reference_batch_size)),
      warmup_epochs_(settings.whole("warmup_epochs")),
      warmup_(settings.word("warmup") == "epoch" ? WarmUp::epoch : WarmUp::iteration),
      schedule_(schedule(name).make(settings, options.epochs)) {}

double LearningRate::at(const Taken& taken) const {
  const double position = warmup_ == WarmUp::epoch ? double(taken.epochs) : taken.position();
  if (position >= double(warmup_epochs_)) return full_rate_ * schedule_->factor(taken);
  return options_.learning_rate +
         position / double(warmup_epochs_) * (full_rate_ - options_.learning_rate);
}

std::int64_t LearningRate::global_batch_size(std::int64_t epoch) const {
  return options_.global_batch_size * schedule_->batch_factor(epoch);
}

void LearningRate::epoch_ended(std::int64_t epoch, double loss) {
  if (epoch >= warmup_epochs_) schedule_->epoch_ended(loss);
}

void LearningRate::save(base::Archive& archive) const {
  archive.put("schedule", std::string_view(name_));
  schedule_->save(archive);
}

void LearningRate::load(const base::Archive& archive) {
  const std::string saved = archive.text("schedule");
  if (saved != name_) {
    throw base::Error(
        base::Fault::input,
        fmt::format("the checkpoint is of schedule '{}', the experiment wants '{}': set "
                    "schedule = \"{}\", or start anew with another checkpoints folder",
                    saved, name_, saved));
  }
  schedule_->load(archive);
}

}  // namespace parajoule::train
