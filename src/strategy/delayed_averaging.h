#pragma once

#include "comm/communicator.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class DelayedAveraging final : public Replicated {
 public:
  explicit DelayedAveraging(comm::Communicator& group) : Replicated(group) {}

  void step(Worker& worker) override;

 private:
  base::Vector mean_;  ///< of all replicas, from the weights at the beginning of the step
};

}  // namespace parajoule::strategy
