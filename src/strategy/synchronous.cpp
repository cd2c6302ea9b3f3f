// Synchronous SGD: every step all ranks take the mean gradient over the global batch.
// With linear scaling and warm-up: P. Goyal et al., "Accurate, Large Minibatch SGD: Training
// ImageNet in 1 Hour", 2017, arXiv:1706.02677. Overlap with the backward pass: overlap.h.
//
//   g  <- sum_r (n_r / n) g_r(w)      n_r samples of rank r in this step, n of all ranks
//   w  <- w - lr g
//
// A rank without samples has the gradient zero and the weight zero, and takes part all the same.
#include "strategy/synchronous.h"

namespace parajoule::strategy {

void Synchronous::step(Worker& worker) {
  const Progress progress = worker.progress();
  const double share =
      progress.samples_of_all == 0 ? 0 : double(progress.samples) / progress.samples_of_all;
  gradients_.compute_gradients(worker, share);
  worker.update();
}

}  // namespace parajoule::strategy
