#pragma once

// A world of one rank.

#include <memory>

#include "comm/communicator.h"

namespace parajoule::comm {

/// The only rank of its world: every collective is the identity (times the factor), and it can send
/// to itself.
class Solo final : public Communicator {
 public:
  Solo();
  ~Solo() override;

  int rank() const override;
  int size() const override;
  Nodes nodes() const override;
  base::Vector allocate(base::Element element, std::size_t count) override;
  Pending start(const Collective& call) override;
  Pending start_send(base::Vector values, int to, int tag) override;
  Pending start_receive(base::Vector values, int from, int tag) override;
  std::optional<Arrived> arrived(int from, int tag) override;
  Arrived await(int from, int tag) override;
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override;
  Traffic traffic() const override;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace parajoule::comm
