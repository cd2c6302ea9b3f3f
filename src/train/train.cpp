#include "train/train.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/backend.h"
#include "train/agreement.h"
#include "train/checkpoint.h"
#include "train/job.h"
#include "train/left.h"
#include "train/pace.h"
#include "train/recorder.h"
#include "train/state.h"

namespace parajoule::train {
namespace {

std::vector<int> everyone(const comm::Communicator& group) {
  std::vector<int> ranks(std::size_t(group.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

/// One rank's run from its first step to its last.
class Training {
 public:
  Training(const Experiment& experiment, comm::Communicator& world, Reporter& reporter,
           const AskedToStop& asked_to_stop, const Hardware& hardware)
      : experiment_(experiment),
        reporter_(reporter),
        asked_to_stop_(asked_to_stop),
        control_(world.group(everyone(world))),
        recorder_(experiment, *control_, reporter, hardware),
        job_(experiment, world),
        checkpoints_(experiment.folder, *control_),
        trainers_(job_.part.trains ? control_->group(job_.trainers) : nullptr) {
    if (trainers_) agreement_.emplace(*trainers_, job_.method.drift(experiment.strategy.settings));
    job_.batches.on_taken([this](const data::Loader::Batch& batch) { recorder_.damage(batch); });
    checkpoints_.before_commit([this] { job_.fault.reach(FaultPlace::checkpoint, at_.steps); });
  }

  Outcome run();
  void fail(std::string_view why) noexcept { recorder_.fail(why); }

 private:
  void say_what_computes();
  void resume();
  void train_epoch();
  void serve_epoch();
  enum class Meeting { checkpoint, evaluation };
  Meeting meet(Meeting why);
  void take_step();
  void compute_step();
  std::int64_t samples_of_all(std::int64_t own);
  strategy::Progress progress(std::int64_t own_samples, std::int64_t of_all) const;
  void record_step(std::int64_t samples);
  void agree();
  void absorb(const Standing& standing);
  [[noreturn]] void end_without_number();
  std::string remedy() const;
  [[noreturn]] void end_together(int rank, base::Fault fault, const std::string& why);
  void show();
  bool evaluate_epoch();
  std::optional<double> evaluate(std::string_view set, const data::Dataset& dataset);
  void keep(std::string_view set, const std::vector<nn::Score>& scores);
  void save();
  void check_weights();
  bool steps_are_done() const { return experiment_.steps && at_.steps >= *experiment_.steps; }
  bool done() const { return at_.epoch >= experiment_.epochs; }
  /// Whether any rank was told to stop; all ranks ask at the same place.
  bool anyone_stops() {
    const auto waiting = job_.phases.enter(Phase::exposed_communication);
    return control_->maximum(double(asked_to_stop_())) > 0;
  }

  const Experiment& experiment_;
  Reporter& reporter_;
  const AskedToStop& asked_to_stop_;
  /// Apart from the method's own sums, so that neither waits for the other.
  std::unique_ptr<comm::Communicator> control_;
  Recorder recorder_;
  Job job_;
  Checkpoints checkpoints_;
  std::unique_ptr<comm::Communicator> trainers_;  ///< those that train; none on a rank that serves
  std::optional<Agreement> agreement_;            ///< between them
  Position at_;
  data::Shards shares_;              ///< of the epoch under way, on a rank that trains
  std::int64_t steps_of_epoch_ = 0;  ///< which follow from them
  Pace pace_;
  std::vector<Metric> shown_;            ///< metrics of the evaluation under way
  bool stopping_ = false;                ///< agreed
  std::optional<std::int64_t> lost_at_;  ///< step in which this rank's loss was first no number
  base::Seconds waited_{0};              ///< exposed communication until the last step
  std::uint64_t sent_ = 0;               ///< bytes until the last step
};

Outcome Training::run() {
  say_what_computes();
  resume();
  while (!done() && !stopping_) {
    train_epoch();
    if (!stopping_ && !evaluate_epoch()) stopping_ = true;
    if (!done() && !stopping_) stopping_ = anyone_stops();
  }
  if (done()) job_.strategy->finish(job_.worker);
  save();
  recorder_.finish(done() ? store::State::done : store::State::stopped,
                   done() ? "" : fmt::format("stopped by a signal after step {}", at_.steps));
  return {.stopped = !done(), .steps = at_.steps, .record = recorder_.path()};
}

void Training::say_what_computes() {
  const nn::Backend backend = nn::backend();
  recorder_.found("libtorch", backend.torch);
  recorder_.found("blas", backend.blas);
  recorder_.found("blas_kernel", backend.kernel);
  recorder_.found("onednn", backend.onednn);
}

void Training::resume() {
  const auto restored = checkpoints_.restore();
  if (!restored) return;
  for (const std::string& line : restored->skipped) recorder_.note(store::Severity::warning, line);
  for (const std::string& line : take_up(job_, at_, *restored))
    recorder_.note(store::Severity::warning, line);
  recorder_.note(store::Severity::note,
                 fmt::format("resumed after step {} from the checkpoint in {}", at_.steps,
                             experiment_.folder));
}

void Training::train_epoch() {
  if (!trainers_) return serve_epoch();
  shares_ = job_.shards(at_.epoch, at_.steps - at_.step);
  steps_of_epoch_ = shares_.steps();
  if (at_.step >= steps_of_epoch_ || steps_are_done())
    return;  // only its evaluation is still to come
  job_.begin_epoch(shares_, at_.epoch, at_.step);
  while (at_.step < steps_of_epoch_ && !steps_are_done() && !stopping_) {
    take_step();
    const std::int64_t every = experiment_.checkpoint_every_steps;
    if (every > 0 && at_.steps % every == 0 && at_.step < steps_of_epoch_ && !stopping_) {
      meet(Meeting::checkpoint);
      save();
    }
  }
  job_.batches.end();
  agree();
  meet(Meeting::evaluation);
}

void Training::serve_epoch() {
  if (steps_are_done()) return;
  do {
    job_.strategy->serve(job_.worker);
    if (meet(Meeting::evaluation) == Meeting::evaluation) return;
    save();
  } while (true);
}

/// Before all ranks do something together. Those that serve count no steps: they are told what it
/// is and where training stands.
Training::Meeting Training::meet(Meeting why) {
  if (job_.all_train()) return why;
  if (trainers_) job_.strategy->leave(job_.worker);
  const auto waiting = job_.phases.enter(Phase::exposed_communication);
  std::array told{double(why),  double(at_.step), double(at_.steps),
                  at_.loss_sum, at_.loss_samples, double(stopping_)};
  control_->broadcast(base::Vector(std::span<double>(told)), job_.trainers.front());
  at_.step = std::int64_t(told[1]);
  at_.steps = std::int64_t(told[2]);
  at_.loss_sum = told[3];
  at_.loss_samples = told[4];
  stopping_ = told[5] > 0;
  return Meeting(int(told[0]));
}

/// Steps are those of the quickest ranks: one that takes fewer has its part in deciding together
/// nevertheless, and need not wait for the others before its next batch.
void Training::take_step() {
  const bool takes = shares_.takes(at_.step);
  if (takes) compute_step();
  ++at_.step;
  ++at_.steps;

  const double samples = takes ? double(job_.worker.progress().samples) : 0;
  const double loss = takes ? job_.worker.loss_sum() : 0;
  if (!lost_at_ && !std::isfinite(loss)) lost_at_ = at_.steps - 1;
  auto agreeing = job_.phases.enter(Phase::exposed_communication);
  const auto agreed = agreement_->say({.samples = samples,
                                       .loss = std::isfinite(loss) ? loss : 0,
                                       .wrong = takes ? job_.worker.wrong() : 0,
                                       .stop = double(asked_to_stop_()),
                                       .not_a_number = double(lost_at_.has_value())});
  agreeing.end();
  if (takes) record_step(std::int64_t(samples));
  if (agreed) absorb(*agreed);
}

void Training::compute_step() {
  job_.group.begin_step(at_.steps);
  auto waiting = job_.phases.enter(Phase::data_wait);
  job_.fault.reach(FaultPlace::data, at_.steps);
  const data::Loader::Batch batch = job_.batches.take();
  waiting.end();
  job_.worker.begin_step(batch, job_.axes, progress(batch.count, samples_of_all(batch.count)));
  job_.strategy->step(job_.worker);
}

/// Only when samples may be left out does a rank not know what the others have. Ranks that take
/// different steps do not meet in each of them: they count what was planned.
std::int64_t Training::samples_of_all(std::int64_t own) {
  if (experiment_.on_bad_sample != data::OnBadSample::skip || !job_.one_pace())
    return std::int64_t(shares_.whole(at_.step).size());
  const auto waiting = job_.phases.enter(Phase::exposed_communication);
  return std::int64_t(trainers_->sum(double(own)));
}

strategy::Progress Training::progress(std::int64_t own_samples, std::int64_t of_all) const {
  const std::int64_t taken = shares_.taken(at_.step);
  return {
      .step = shares_.own_steps(at_.step),
      .epoch = at_.epoch,
      .samples = own_samples,
      .samples_of_all = of_all,
      .batch = (shares_.global_batch_size + shares_.ranks - 1) / shares_.ranks,
      .learning_rate = job_.rate.at({.epochs = at_.epoch, .samples = taken, .of = shares_.samples}),
      .loss = at_.last_loss,
      .epochs = experiment_.epochs,
      .last_of_epoch = at_.step + 1 == steps_of_epoch_ ||
                       (experiment_.steps && at_.steps + 1 == *experiment_.steps),
      .seed = experiment_.seed};
}

void Training::record_step(std::int64_t samples) {
  const base::Seconds waited = job_.phases.total(Phase::exposed_communication);
  const std::uint64_t sent = job_.group.traffic().bytes;
  recorder_.step({.rank = control_->rank(),
                  .step = at_.steps - 1,
                  .seconds = recorder_.now(),
                  .samples = samples,
                  .loss = job_.worker.loss_sum() / double(samples),  // of none: not a number
                  .sent_bytes = std::int64_t(sent - sent_),
                  .waited = waited - waited_},
                 job_.phases.take());
  waited_ = waited;
  sent_ = sent;
}

void Training::agree() {
  if (!agreement_) return;
  auto waiting = job_.phases.enter(Phase::exposed_communication);
  const std::vector<Standing> standings = agreement_->drain();
  waiting.end();
  for (const Standing& standing : standings) absorb(standing);
}

void Training::absorb(const Standing& standing) {
  if (standing.not_a_number > 0) end_without_number();
  at_.loss_sum += standing.loss;
  at_.loss_samples += standing.samples;
  if (standing.stop > 0) stopping_ = true;
  pace_.add(monotonic_now(), standing);
  if (control_->rank() == 0) show();
}

void Training::end_without_number() {
  // By now other ranks may have caught it from the one that met it first.
  const double none = std::numeric_limits<double>::infinity();
  const double own = lost_at_ ? double(*lost_at_) : none;
  const double first = trainers_->minimum(own);
  const double rank = trainers_->minimum(own == first ? control_->rank() : none);
  end_together(
      int(rank), base::Fault::not_a_number,
      fmt::format("the loss is not a number in step {} {}", std::int64_t(first), remedy()));
}

/// Every rank knows that this is the end: one says why, and the others wait until it has.
void Training::end_together(int rank, base::Fault fault, const std::string& why) {
  if (control_->rank() == rank) throw base::Error(fault, why);
  while (true) control_->barrier();  // until it throws what that rank said
}

std::string Training::remedy() const {
  return fmt::format(
      "(learning rate {:.3g}): lower the learning rate, lengthen its warm-up, or check the data",
      job_.worker.progress().learning_rate);
}

void Training::show() {
  const Left left = left_of(job_, at_);
  reporter_.live({.epoch = at_.epoch,
                  .epochs = experiment_.epochs,
                  .step = at_.step,
                  .steps = left.last_step,
                  .loss = pace_.loss(),
                  .top1_error = pace_.top1_error(),
                  .samples_per_second = pace_.samples_per_second(),
                  .left = pace_.time_for(left.samples),
                  .energy = recorder_.energy()});
}

bool Training::evaluate_epoch() {
  if (control_->rank() == 0) reporter_.evaluating(at_.epoch);
  shown_.clear();
  {
    const auto span = job_.phases.enter(Phase::evaluation);
    job_.fill_evaluated();
    if (experiment_.evaluate_training_set && !evaluate("training", *job_.training)) return false;
    const auto loss = evaluate("validation", *job_.validation);
    if (!loss) return false;
    job_.rate.epoch_ended(at_.epoch, *loss);
  }
  if (control_->rank() == 0) reporter_.evaluated(at_.epoch, shown_);
  at_.last_loss = at_.loss_samples > 0 ? at_.loss_sum / at_.loss_samples : 0;
  at_.loss_sum = at_.loss_samples = 0;
  at_.step = 0;
  at_.epoch = steps_are_done() ? experiment_.epochs : at_.epoch + 1;
  recorder_.phases(job_.phases.take());
  recorder_.write();
  return true;
}

std::optional<double> Training::evaluate(std::string_view set, const data::Dataset& dataset) {
  Evaluation evaluation = job_.evaluation(dataset, at_.epoch);
  const auto interrupted = [this] {
    job_.fault.reach(FaultPlace::evaluation, at_.steps);
    recorder_.move();
    return asked_to_stop_();
  };
  const auto taken = [this](const data::Loader::Batch& batch) { recorder_.damage(batch); };
  const auto scores = evaluation.run(job_.evaluated, {.interrupted = interrupted, .taken = taken});
  if (!scores) return std::nullopt;
  const nn::Score& loss = scores->front();
  if (loss.denominator == 0)
    end_together(0, base::Fault::input,
                 fmt::format("no sample of the {} set can be read; the record names each", set));
  keep(set, *scores);
  if (!std::isfinite(loss.numerator))
    end_together(0, base::Fault::not_a_number,
                 fmt::format("the loss on the {} set is not a number after step {} {}", set,
                             at_.steps, remedy()));
  return loss.numerator / loss.denominator;
}

/// Puts what an evaluation has found into the record and on the screen.
void Training::keep(std::string_view set, const std::vector<nn::Score>& scores) {
  const auto& metrics = job_.task->metrics();
  std::vector<store::Epoch> rows;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto [numerator, denominator] = scores[i];
    rows.push_back(
        {at_.epoch, recorder_.now(), std::string(set), metrics[i].name, numerator, denominator});
    shown_.push_back({.set = std::string(set),
                      .name = metrics[i].name,
                      .unit = metrics[i].unit,
                      .value = metrics[i].factor * numerator / denominator});
  }
  recorder_.evaluated(rows);
}

void Training::save() {
  agree();
  const auto span = job_.phases.enter(Phase::checkpoint);
  check_weights();
  checkpoints_.save(gather(job_, at_));
}

/// A loss tells of the weights before its step: those after the last one are looked at here, so
/// that no checkpoint is made of weights that nothing can be done with.
void Training::check_weights() {
  const double none = std::numeric_limits<double>::infinity();
  const bool finite = job_.worker.weights().finite() && job_.worker.buffers().finite();
  const double rank = control_->minimum(finite ? none : double(control_->rank()));
  if (rank != none)
    end_together(int(rank), base::Fault::not_a_number,
                 fmt::format("the weights are not numbers after step {} {}", at_.steps, remedy()));
}

}  // namespace

Outcome run(const Experiment& experiment, comm::Communicator& group, Reporter& reporter,
            const AskedToStop& asked_to_stop, const Hardware& hardware) {
  Training training(experiment, group, reporter, asked_to_stop, hardware);
  try {
    return training.run();
  } catch (const std::exception& error) {
    training.fail(error.what());
    throw;
  }
}

}  // namespace parajoule::train
