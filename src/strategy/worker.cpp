#include "strategy/worker.h"

#include "base/error.h"

namespace parajoule::strategy {

base::Vector Worker::losses() {
  throw base::Error(base::Fault::usage,
                    "this method chooses samples by their losses, and the losses of single samples "
                    "are not known here: set biased = false");
}

void Worker::draw(std::span<const std::int64_t>) {
  throw base::Error(base::Fault::usage,
                    "this method chooses the samples of each rank, and here the order of the data "
                    "is fixed before a step: set biased = false");
}

}  // namespace parajoule::strategy
