#include "optimize/optimizer.h"

#include "base/error.h"

namespace parajoule::optimize {

void ensure_whole(base::Vector weights, base::Vector gradients, std::size_t parameters) {
  base::ensure(weights.count() == parameters && gradients.count() == parameters,
               "weights and gradients of a step are whole vectors of the layout");
  base::ensure(weights.element() == gradients.element(),
               "weights and gradients of a step have one element type");
}

}  // namespace parajoule::optimize
