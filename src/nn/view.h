#pragma once

// Tensors that are views of memory which someone else owns.

#include <ATen/core/Tensor.h>

#include "base/vector.h"
#include "nn/net.h"

namespace parajoule::nn {

/// `values` as a tensor of this shape, without a copy; the memory must outlive it. A shape of four
/// dimensions (B, C, H, W) lies as (B, H, W, C) in memory if the order says so.
at::Tensor view(base::Vector values, at::IntArrayRef shape, Order order = Order::contiguous);

}  // namespace parajoule::nn
