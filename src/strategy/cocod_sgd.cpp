// CoCoD-SGD: S. Shen, L. Xu, J. Liu, X. Liang, Y. Cheng, "Faster Distributed Deep Net Training:
// Computation and Communication Decoupled Stochastic Gradient Descent", IJCAI 2019,
// arXiv:1906.12043. While each rank takes k steps of its own, the mean of the weights that all had
// at the start of the round is under way; then each adds its own progress to it.
//
//   xhat <- sum_i p_i x_i                          under way during
//   y <- x_i;  k times:  y <- y - lr g_i(y)
//   x_i <- xhat + (y - x_i)
//
// All ranks take equal shares of the samples, so p_i = 1 / R; the paper's samples in proportion to
// the speed of a rank are not offered. Momentum is each rank's own, neither averaged nor reset, as
// in JYWa/Overlap_Local_SGD, another group's code. A rank without samples in a step leaves its
// weights alone. Passes of training do not read running statistics and their recursion is linear,
// so the mean of all is taken where it is read, not every round. What is evaluated is the mean of
// the replicas; it moves by the mean progress whatever was summed up, so the end drops the sum
// under way.
#include "strategy/cocod_sgd.h"

#include "strategy/push.h"

namespace parajoule::strategy {

void CocodSgd::step(Worker& worker) {
  if (!start_.made()) {
    start_.make(worker.spare());
    mean_.make(worker.spare());
  }
  if (steps_ % period_ == 0) begin_round(worker);
  Push push(sum_);
  worker.compute_gradients(push);
  if (worker.progress().samples > 0) worker.update();
  if (++steps_ % period_ == 0) end_round(worker.weights());
}

void CocodSgd::begin_round(Worker& worker) {
  start_->copy(worker.weights());
  mean_->copy(worker.weights());
  sum_ = group_.start_mean(*mean_);
}

void CocodSgd::end_round(base::Vector weights) {
  wait();
  mean_->add(*start_, -1);  // nothing at all, and not just little, if there is one rank
  weights.add(*mean_);
}

void CocodSgd::save(base::Archive& archive) {
  wait();
  archive.put("steps", steps_);
  start_.save(archive, "start");
  mean_.save(archive, "mean");
}

void CocodSgd::load(const base::Archive& archive) {
  steps_ = archive.whole("steps");
  start_.load(archive, "start");
  mean_.load(archive, "mean");
}

}  // namespace parajoule::strategy
