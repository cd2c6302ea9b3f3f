#pragma once

// One rank's copy of a model, end to end in flat vectors, with the layers as views into them.

#include "base/vector.h"
#include "nn/net.h"
#include "schedule/layout.h"

namespace parajoule::nn {

/// P parameters and S running statistics; the memory is the caller's and outlives the binding.
struct Replica {
  base::Vector weights = {};    ///< (P) float32 or float64
  base::Vector gradients = {};  ///< (P) like weights, or empty for a net that is only evaluated
  base::Vector buffers = {};    ///< (S) like weights
};

/// How the parameters lie in a replica: in the order of the forward pass, so that the backward pass
/// finishes them from the end of the vector to its beginning; and the running statistics. Whole
/// numbers that a model counts with are no part of it.
schedule::Layout layout_of(Net& net);

/// Moves the values of the net into `replica` and makes its parameters, their gradients and its
/// running statistics views of that memory. From here on the net computes in the element type of
/// the weights. A parameter of four dimensions lies in the net's memory order.
void bind(Net& net, const Replica& replica);

/// The same without moving values: the net takes those that `replica` holds.
void bind_to_values(Net& net, const Replica& replica);

}  // namespace parajoule::nn
