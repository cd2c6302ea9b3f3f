// HPSGD: Y. Zhou, Q. Ye, H. Zhang, J. Lv, "HPSGD: Hierarchical Parallel SGD With Stale Gradients
// Featuring", 2020, arXiv:2009.02701. Ranks train on replicas while the gradients of the period
// before are summed; then these move the global weights, from which the replicas start again.
//
//   S <- S + g_r(x)      x <- x - lr g_r(x)          every step
//   W <- W - lr P / R    x <- W    P := sum_r S, started    S := 0         at the end of a period,
//                                                    in place of the step of x
//
// P is the sum that was started one period ago: gradients are exactly one period old. A rank's
// gradient weighs R n_r / n, which is 1 if all take equally many samples, as in the paper.
//
// The authors' code (github.com/Soptq/Hierarchical_Local_SGD) differs in ways that we take for
// defects. It loses one period's sum in every epoch: here every sum is applied, the last two by
// `finish`. It asks locally whether a sum has arrived, so that ranks may end a period in different
// steps: here a period has H steps, or ends when the sum has arrived on all ranks, agreed by
// minimum in each step (where they have a barrier). Its first period goes on from the replica: here
// that starts again from W as all others do.
//
// The rule moves W and x by one optimizer, so that must keep nothing between steps: momentum is
// refused. Weight decay acts on W once a period. What is evaluated is W.
#include "strategy/hierarchical_parallel_sgd.h"

#include <utility>

#include "base/error.h"
#include "strategy/push.h"

namespace parajoule::strategy {

void HierarchicalParallelSgd::check_optimizer(std::optional<double> momentum) {
  if (momentum == 0.0) return;
  throw base::Error(base::Fault::usage,
                    "hierarchical_parallel_sgd: moves two sets of weights by plain SGD and cannot "
                    "keep momentum or moments for both; use optimizer = \"sgd\" with momentum = 0");
}

void HierarchicalParallelSgd::begin(Worker& worker) {
  if (global_.made()) return;
  check_optimizer(worker.momentum());
  const base::Vector global = worker.spare();
  global.copy(worker.weights());
  global_.make(global);
  sum_.make(worker.spare());
  last_.make(worker.spare());
}

void HierarchicalParallelSgd::step(Worker& worker) {
  begin(worker);
  Push push(arriving_);
  worker.compute_gradients(push);
  const Progress at = worker.progress();
  if (at.samples > 0)
    sum_->add(worker.gradients(), double(at.samples * group_.size()) / double(at.samples_of_all));
  ++steps_;
  if (!period_is_over()) {
    if (at.samples > 0) worker.update();
    return;
  }
  apply_last_period(worker);
  worker.weights().copy(*global_);
  std::swap(sum_, last_);
  has_last_ = true;
  arriving_ = group_.start_mean(*last_);
  sum_->fill(0);
  steps_ = 0;
}

bool HierarchicalParallelSgd::period_is_over() {
  if (!options_.adaptive) return steps_ == options_.period;
  return group_.minimum(double(arriving_.done())) > 0;
}

void HierarchicalParallelSgd::apply_last_period(Worker& worker) {
  if (!has_last_) return;
  arriving_.wait();
  worker.update(*global_, *last_);
  has_last_ = false;
}

void HierarchicalParallelSgd::evaluation_weights(Worker& worker, base::Vector weights,
                                                 base::Vector buffers) {
  begin(worker);
  weights.copy(*global_);
  buffers.copy(worker.buffers());
}

void HierarchicalParallelSgd::save(base::Archive& archive) {
  arriving_.wait();
  archive.put("steps", steps_);
  archive.put("has_last", std::int64_t(has_last_));
  global_.save(archive, "global");
  sum_.save(archive, "sum");
  last_.save(archive, "last");
}

void HierarchicalParallelSgd::load(const base::Archive& archive) {
  steps_ = archive.whole("steps");
  has_last_ = archive.whole("has_last") != 0;
  global_.load(archive, "global");
  sum_.load(archive, "sum");
  last_.load(archive, "last");
}

void HierarchicalParallelSgd::finish(Worker& worker) {
  begin(worker);
  apply_last_period(worker);
  if (steps_ > 0) {
    group_.mean(*sum_);
    worker.update(*global_, *sum_);
  }
  sum_->fill(0);
  steps_ = 0;
  worker.weights().copy(*global_);
}

}  // namespace parajoule::strategy
