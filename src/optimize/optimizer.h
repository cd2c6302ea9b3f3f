#pragma once

// What turns gradients into a change of the weights.

#include <functional>

#include "base/archive.h"
#include "base/vector.h"

namespace parajoule::optimize {

/// Hands out `count` zeros of the weights' element type, on the host, that live as long as the
/// optimizer.
using Memory = std::function<base::Vector(std::size_t count)>;

/// An optimizer's rule with its state. The state has the precision of the weights, float32 or
/// float64, and is kept for each element of the flat vector: a method may update the whole vector
/// at once or in ranges of any cut and order, with the same bits as result.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One step of the parameters in `range`: moves `weights` there by `gradients`, and the state
  /// with them; one pass over the memory. Both are vectors of the layout this optimizer was made
  /// for, not cut to the range. `rate` is the learning rate.
  virtual void step(base::Vector weights, base::Vector gradients, base::Range range,
                    double rate) = 0;

  /// The state only, not the options. `load` throws Error{input} if it does not fit.
  virtual void save(base::Archive& archive) const = 0;
  virtual void load(const base::Archive& archive) = 0;
};

/// Both vectors are as long as the layout and of one element type: what `step` may rely on.
void ensure_whole(base::Vector weights, base::Vector gradients, std::size_t parameters);

}  // namespace parajoule::optimize
