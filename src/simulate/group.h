#pragma once

// The communicator of a virtual world.

#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "simulate/circle.h"
#include "simulate/kernel.h"
#include "simulate/messages.h"
#include "simulate/operations.h"

namespace parajoule::simulate {

/// What all groups of a world share.
struct Exchange {
  Kernel& kernel;
  Messages& messages;
  Circles& circles;
  const TimedOperations& operations;
  const comm::Nodes& nodes;
};

class Group final : public comm::Communicator {
 public:
  Group(Exchange& exchange, Runner& own, std::shared_ptr<Circle> circle);

  int rank() const override { return member_; }
  int size() const override { return topology().size(); }
  comm::Nodes nodes() const override { return topology().nodes(); }
  /// Without real numbers: a length, and no memory.
  base::Vector allocate(base::Element element, std::size_t count) override;
  comm::Pending start(const comm::Collective& call) override;
  comm::Pending start_send(base::Vector values, int to, int tag) override;
  comm::Pending start_receive(base::Vector values, int from, int tag) override;
  std::optional<Arrived> arrived(int from, int tag) override;
  Arrived await(int from, int tag) override;
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override;
  Traffic traffic() const override { return own_.account.traffic; }

 private:
  const comm::Topology& topology() const { return circle_->members->topology; }
  void check_member(int member, std::string_view what) const;
  std::vector<int> senders(int from) const;
  Messages::Key key(int tag) const { return {circle_->context, tag}; }
  Arrived told(Messages::Arrived message) const {
    return {topology().member_of(message.from), message.bytes};
  }

  Exchange& exchange_;
  Runner& own_;
  std::shared_ptr<Circle> circle_;
  int member_;
  std::vector<std::unique_ptr<std::byte[], void (*)(std::byte*)>> memory_;
};

}  // namespace parajoule::simulate
