#pragma once

// What the methods share in which every rank trains a replica of its own.

#include "comm/communicator.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

/// What is evaluated is the mean of the replicas; the end takes it, and drops what is under way.
class Replicated : public Strategy {
 public:
  explicit Replicated(comm::Communicator& group) : group_(group) {}

  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) final;
  void finish(Worker& worker) final;

 protected:
  /// Of vectors like those of every rank: leaves on all of them their mean. All ranks call it.
  virtual void average(base::Vector weights, base::Vector buffers);
  /// For what is under way; nothing of it is applied.
  virtual void wait() {}

  comm::Communicator& group_;
};

}  // namespace parajoule::strategy
