#pragma once

#include "comm/communicator.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class DelayedAveraging final : public Strategy {
 public:
  explicit DelayedAveraging(comm::Communicator& group) : group_(group) {}

  void step(Worker& worker) override;
  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) override;
  void finish(Worker& worker) override;

 private:
  comm::Communicator& group_;
  base::Vector mean_;  ///< of all replicas, from the weights at the beginning of the step
};

}  // namespace parajoule::strategy
