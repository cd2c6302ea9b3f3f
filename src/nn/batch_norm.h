#pragma once

// Batch normalisation with what follows it, in two passes over memory each way. Only sources of nn/
// that know torch include this.

#include <torch/torch.h>

#include "nn/channel_loops.h"

namespace parajoule::nn {

/// What a layer of batch normalisation keeps; each (C).
struct BatchNorm {
  at::Tensor gamma;
  at::Tensor beta;
  at::Tensor running_mean;
  at::Tensor running_variance;

  static constexpr double momentum = 0.1;  ///< share of a batch in the running statistics
  static constexpr double epsilon = 1e-5;  ///< added to the variance; both as torchvision has them
};

/// y = gamma (x - mean) / sqrt(variance + epsilon) + beta (+ residual), then ReLU, with the mean
/// and the biased variance of the batch (Ioffe and Szegedy 2015, arXiv:1502.03167); moves the
/// running statistics. A batch with a single value a channel says nothing about their spread: it
/// leaves the running statistics alone, and y is beta (+ residual).
///
/// x (B, C, H, W) and `residual`, which may be undefined, lie on the host in channels-last order,
/// in float32 or float64 like everything else. Of 7 to 11 passes over memory that separate
/// operations take forward and back this leaves 4 to 6.
at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& residual, const BatchNorm& norm,
                      channel_loops::Activation activation);

/// The same with the running statistics in place of the batch's, without gradients.
at::Tensor batch_norm_evaluated(const at::Tensor& x, const at::Tensor& residual,
                                const BatchNorm& norm, channel_loops::Activation activation);

}  // namespace parajoule::nn
