#pragma once

// The communicator a method is given: times what the method has to wait for.

#include <memory>

#include "comm/communicator.h"
#include "train/fault.h"
#include "train/phases.h"

namespace parajoule::train {

/// Passes everything on and counts every wait as exposed communication, unless another phase is
/// under way, in which the wait then lies.
class Timed final : public comm::Communicator {
 public:
  Timed(comm::Communicator& inner, Phases& phases, InjectedFault& fault)
      : inner_(&inner), phases_(phases), fault_(fault) {}

  /// The step under way, for faults.
  void begin_step(std::int64_t step) { step_ = step; }

  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  comm::Nodes nodes() const override { return inner_->nodes(); }
  base::Vector allocate(base::Element element, std::size_t count) override {
    return inner_->allocate(element, count);
  }
  comm::Pending start(const comm::Collective& call) override;
  comm::Pending start_send(base::Vector values, int to, int tag) override;
  comm::Pending start_receive(base::Vector values, int from, int tag) override;
  std::optional<Arrived> arrived(int from, int tag) override { return inner_->arrived(from, tag); }
  Arrived await(int from, int tag) override;
  std::unique_ptr<comm::Communicator> group(std::span<const int> ranks) override;
  Traffic traffic() const override { return inner_->traffic(); }

 private:
  Timed(std::unique_ptr<comm::Communicator> owned, Phases& phases, InjectedFault& fault)
      : owned_(std::move(owned)), inner_(owned_.get()), phases_(phases), fault_(fault) {}
  comm::Pending timed(comm::Pending pending);

  std::unique_ptr<comm::Communicator> owned_;
  comm::Communicator* inner_;
  Phases& phases_;
  InjectedFault& fault_;
  std::int64_t step_ = 0;
};

}  // namespace parajoule::train
