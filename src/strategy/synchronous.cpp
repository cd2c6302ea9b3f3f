// Synchronous SGD: every step all ranks take the mean gradient over the global batch.
// With linear scaling and warm-up: P. Goyal et al., "Accurate, Large Minibatch SGD: Training
// ImageNet in 1 Hour", 2017, arXiv:1706.02677. Merging and overlap with the backward pass: S. Li et
// al., "PyTorch Distributed", VLDB 2020, arXiv:2006.15704.
//
//   g  <- sum_r (n_r / n) g_r(w)      n_r samples of rank r in this step, n of all ranks
//   w  <- w - lr g
//
// A rank without samples has the gradient zero and the weight zero, and takes part all the same.
#include "strategy/synchronous.h"

namespace parajoule::strategy {

void Synchronous::step(Worker& worker) {
  const Progress progress = worker.progress();
  const double factor =
      progress.samples_of_all == 0 ? 0 : double(progress.samples) / progress.samples_of_all;
  if (options_.overlap == Overlap::none) {
    worker.compute_gradients();
    group_.sum(worker.gradients(), factor);
  } else {
    const base::Vector gradients = worker.gradients();
    if (ranges_.empty())
      ranges_ = merged_ranges(worker.layout(), gradients.element(), options_.merge_bytes);
    MergedSum sum(group_, gradients, ranges_, factor);
    worker.compute_gradients(sum);
    sum.finish();
  }
  worker.update();
}

}  // namespace parajoule::strategy
