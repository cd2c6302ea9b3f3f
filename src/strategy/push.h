#pragma once

// Transfers that move on while a pass computes.

#include <span>

#include "comm/communicator.h"
#include "strategy/worker.h"

namespace parajoule::strategy {

/// Asks transfers under way between the layers of a pass, there and back: a transfer moves only
/// when it is asked.
class Push final : public Watch {
 public:
  explicit Push(std::span<comm::Pending> transfers) : transfers_(transfers) {}
  explicit Push(comm::Pending& transfer) : transfers_(&transfer, 1) {}
  void before_forward(int) override { push(); }
  void before_backward(int) override { push(); }
  void ready(base::Range) override { push(); }

 private:
  void push() {
    for (comm::Pending& transfer : transfers_) transfer.done();
  }

  std::span<comm::Pending> transfers_;
};

}  // namespace parajoule::strategy
