#pragma once

// A test double: a communicator that breaks where the test wants it to.

#include <cstdint>
#include <functional>
#include <memory>

#include "comm/communicator.h"

namespace parajoule::comm {

/// Passes everything on to another communicator, and before its n-th call does what the test says:
/// throws, sleeps, ends the process. Collectives, sends and receives count, also those of groups
/// made from it.
///
///   comm::Failing broken(world, 3, [] { throw std::runtime_error("disk full"); });
///   comm::Failing killed(world, 3, [] { std::raise(SIGKILL); });
class Failing final : public Communicator {
 public:
  /// `at_call` counts from 1.
  Failing(Communicator& inner, std::int64_t at_call, std::function<void()> breaks);
  ~Failing() override;

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
  struct Trigger;
  Failing(std::unique_ptr<Communicator> group, std::shared_ptr<Trigger> trigger);

  std::unique_ptr<Communicator> owned_;  ///< of a group made from another
  Communicator& inner_;
  std::shared_ptr<Trigger> trigger_;
};

}  // namespace parajoule::comm
