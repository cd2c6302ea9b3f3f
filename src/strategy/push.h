#pragma once

// Transfers that move on while a pass computes.

#include <span>

#include "comm/communicator.h"
#include "strategy/worker.h"

namespace parajoule::strategy {

/// Asks transfers under way whenever gradients become ready: a transfer moves only when it is
/// asked.
class Push final : public Watch {
 public:
  explicit Push(std::span<comm::Pending> transfers) : transfers_(transfers) {}
  explicit Push(comm::Pending& transfer) : transfers_(&transfer, 1) {}
  void ready(base::Range) override {
    for (comm::Pending& transfer : transfers_) transfer.done();
  }

 private:
  std::span<comm::Pending> transfers_;
};

}  // namespace parajoule::strategy
