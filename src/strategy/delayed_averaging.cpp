// Averaging with a delay of one ("delay-by-one"): W. Zhang et al., "Improving Efficiency in
// Large-Scale Decentralized Distributed Training", ICASSP 2020, arXiv:2002.01119. The mean of the
// replicas is formed while each rank computes the gradient at its own.
//
//   x_r <- (x_1 + ... + x_R) / R - lr g_r(x_r)
//
// The paper's text was not at hand: this is our reading, and it is what CoCoD-SGD
// (arXiv:1906.12043) and OLDSGD (arXiv:2601.01493) do with a period of one and full averaging.
//
// The optimizer's state stays each rank's own; weight decay pulls from the mean. A rank without
// samples in a step takes the mean as it is. What is evaluated is the mean of the replicas, with
// the mean of their running statistics: these change linearly, so averaging them every step would
// give the same. After a step nothing is in flight, so there is nothing to store.
#include "strategy/delayed_averaging.h"

#include "strategy/push.h"

namespace parajoule::strategy {

void DelayedAveraging::step(Worker& worker) {
  if (mean_.empty()) mean_ = worker.spare();
  mean_.copy(worker.weights());
  comm::Pending averaging = group_.start_mean(mean_);
  Push push(averaging);
  worker.compute_gradients(push);
  averaging.wait();
  worker.weights().copy(mean_);
  if (worker.progress().samples > 0) worker.update();
}

}  // namespace parajoule::strategy
