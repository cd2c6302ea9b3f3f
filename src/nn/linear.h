#pragma once

// A fully connected layer with the ReLU that may follow. Only sources of nn/ that know torch
// include this.

#include <torch/torch.h>

#include "nn/channel_loops.h"

namespace parajoule::nn {

/// y = x weight^T + bias, then ReLU: x (B, in), weight (out, in), bias (out) -> (B, out). The
/// gradients of weight and bias are computed where they land in the replica, so that they are
/// written once and read by nobody; for a large layer and a small batch libtorch spends a quarter
/// of the step on zeroing and adding them.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  channel_loops::Activation activation);

}  // namespace parajoule::nn
