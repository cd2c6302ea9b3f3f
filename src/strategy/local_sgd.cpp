// Local SGD: S. U. Stich, "Local SGD Converges Fast and Communicates Little", ICLR 2019,
// arXiv:1805.09767. Each rank trains alone; every H-th step all take the mean.
//
//   w_r <- w_r - lr * g_r(w_r)
//   every H steps:  w_r <- (w_1 + ... + w_R) / R
//
// Running statistics of normalisation are averaged with the weights. The optimizer's state stays
// each rank's own. A rank without samples in a step leaves its weights alone. What is evaluated is
// the mean of the replicas, as in the paper's analysis.
#include "strategy/local_sgd.h"

namespace parajoule::strategy {

void LocalSgd::step(Worker& worker) {
  worker.compute_gradients();
  if (worker.progress().samples > 0) worker.update();
  if (++steps_ % period_ == 0) average(worker.weights(), worker.buffers());
}

}  // namespace parajoule::strategy
