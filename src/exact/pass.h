#pragma once

// Forward and backward through the layers of a problem, on the rows of one rank.

#include <cstdint>
#include <memory>
#include <span>

#include "base/vector.h"
#include "exact/problem.h"

namespace parajoule::exact {

/// One pass. Layers come in order, first all forward, then all backward from the last. Weights and
/// gradients are those of the layer; `range` is where it lies in the vector of all.
class Pass {
 public:
  virtual ~Pass() = default;
  virtual void forward(base::Range range, std::span<const double> weights) = 0;
  /// Writes the mean over the samples.
  virtual void backward(base::Range range, std::span<const double> weights,
                        std::span<double> gradients) = 0;
};

/// `problem` outlives the pass.
std::unique_ptr<Pass> begin_pass(const Problem& problem, int trainer, std::int64_t step);

}  // namespace parajoule::exact
