// Overlap-Local-SGD: J. Wang, H. Liang, G. Joshi, "Overlap Local-SGD: An Algorithmic Approach to
// Hide Communication Delays in Distributed SGD", ICASSP 2020, arXiv:2002.09539. Every tau-th step
// each rank is pulled towards an anchor, and the mean of the replicas, from which the next anchor
// is made, is under way during the next tau steps.
//
//   x_i <- x_i - lr g_i(x_i)
//   every tau steps:  x_i <- (1 - alpha) x_i + alpha z
//                     v <- beta v + (mean_j x_j - z);  z <- z + v      ready at the next pull
//
// x and z begin equal, v at 0. The authors' code (JYWa/Overlap_Local_SGD) keeps v divided by the
// learning rate; the two differ only where the rate changes between two pulls. Its first round has
// tau + 1 steps, ours tau. The optimizer's momentum is each rank's own. A rank without samples in a
// step leaves its weights alone. Passes of training do not read running statistics, so their mean
// is taken where it is read. What is evaluated is the mean of the replicas; the end drops the
// anchor under way. One rank is pulled back to its own past: not plain SGD unless alpha is 0.
// With alpha = 1 all replicas become z and their mean says nothing new: refused.
#include "strategy/overlap_local_sgd.h"

#include "strategy/push.h"

namespace parajoule::strategy {

void OverlapLocalSgd::step(Worker& worker) {
  prepare(worker);
  Push push(sum_);
  worker.compute_gradients(push);
  if (worker.progress().samples > 0) worker.update();
  if (++steps_ % options_.period != 0) return;
  wait();
  move_anchor();
  worker.weights().lerp(*anchor_, options_.pull);
  mean_->copy(worker.weights());
  sum_ = group_.start_mean(*mean_);
}

void OverlapLocalSgd::prepare(Worker& worker) {
  if (mean_.made()) return;
  const bool begins = steps_ == 0;
  for (OwnVector* own : {&mean_, &anchor_, &velocity_}) own->make(worker.spare());
  if (!begins) return;
  mean_->copy(worker.weights());
  anchor_->copy(worker.weights());
}

void OverlapLocalSgd::move_anchor() {
  velocity_->scale(options_.momentum);
  velocity_->add(*mean_);
  velocity_->add(*anchor_, -1);
  anchor_->add(*velocity_);
}

void OverlapLocalSgd::save(base::Archive& archive) {
  wait();
  archive.put("steps", steps_);
  mean_.save(archive, "mean");
  anchor_.save(archive, "anchor");
  velocity_.save(archive, "velocity");
}

void OverlapLocalSgd::load(const base::Archive& archive) {
  steps_ = archive.whole("steps");
  mean_.load(archive, "mean");
  anchor_.load(archive, "anchor");
  velocity_.load(archive, "velocity");
}

}  // namespace parajoule::strategy
