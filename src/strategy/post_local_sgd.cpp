// Post-local SGD: T. Lin, S. U. Stich, K. K. Patel, M. Jaggi, "Don't Use Large Mini-Batches, Use
// Local SGD", ICLR 2020, arXiv:1808.07217. Training begins with the mean gradient of all ranks in
// every step (H = 1), and goes over to local steps when the learning rate first falls.
//
//   before:  w <- w - lr sum_r (n_r / n) g_r(w)
//   then:    w_r <- w_r - lr g_r(w_r),  every H steps  w_r <- (w_1 + ... + w_R) / R
//
// The authors' code (epfml/LocalSGD-Code) averages weights in the first phase too, which for SGD
// with or without momentum is the same; gradients are what the paper speaks of, they weigh a short
// batch rightly, and they keep the state of any optimizer equal on all ranks until the change. The
// rate is the same on all ranks, and so is the step in which they change. H steps are counted from
// there. Momentum is each rank's own and not averaged; running statistics are averaged with the
// weights. A rank without samples in a local step leaves its weights alone.
#include "strategy/post_local_sgd.h"

namespace parajoule::strategy {

void PostLocalSgd::step(Worker& worker) {
  if (local(worker.progress()))
    step_alone(worker);
  else
    step_together(worker);
}

/// Whether this step is one of the second phase, from which there is no way back.
bool PostLocalSgd::local(const Progress& progress) {
  const bool begins = options_.from_epoch ? progress.epoch >= *options_.from_epoch
                                          : progress.learning_rate < last_rate_;
  last_rate_ = progress.learning_rate;
  return local_ = local_ || begins;
}

void PostLocalSgd::step_together(Worker& worker) {
  const Progress progress = worker.progress();
  worker.compute_gradients();
  group_.sum(worker.gradients(), progress.samples_of_all == 0
                                     ? 0
                                     : double(progress.samples) / double(progress.samples_of_all));
  worker.update();
}

void PostLocalSgd::step_alone(Worker& worker) {
  worker.compute_gradients();
  if (worker.progress().samples > 0) worker.update();
  if (++local_steps_ % options_.period == 0) average(worker.weights(), worker.buffers());
}

/// Before the change the weights are equal as they are.
void PostLocalSgd::average(base::Vector weights, base::Vector buffers) {
  if (local_) group_.mean(weights);
  group_.mean(buffers);
}

void PostLocalSgd::save(base::Archive& archive) {
  archive.put("local", std::int64_t(local_));
  archive.put("last_rate", last_rate_);
  archive.put("local_steps", local_steps_);
}

void PostLocalSgd::load(const base::Archive& archive) {
  local_ = archive.whole("local") != 0;
  last_rate_ = archive.number("last_rate");
  local_steps_ = archive.whole("local_steps");
}

}  // namespace parajoule::strategy
