#pragma once

// The communicator of every world in which ranks really run: threads, MPI, one rank alone.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "comm/switchboard.h"
#include "comm/topology.h"

namespace parajoule::comm {

class Group final : public Communicator {
 public:
  /// All ranks of the world. The switchboard outlives it.
  explicit Group(Switchboard& board);
  ~Group() override;

  int rank() const override { return own_; }
  int size() const override { return topology_->size(); }
  Nodes nodes() const override { return topology_->nodes(); }
  base::Vector allocate(base::Element element, std::size_t count) override;
  Pending start(const Collective& call) override;
  Pending start_send(base::Vector values, int to, int tag) override;
  Pending start_receive(base::Vector values, int from, int tag) override;
  std::optional<Arrived> arrived(int from, int tag) override;
  Arrived await(int from, int tag) override;
  std::unique_ptr<Communicator> group(std::span<const int> ranks) override;
  Traffic traffic() const override { return board_.seat().traffic.total(); }

 private:
  class Arrival;

  Group(Switchboard& board, std::vector<int> ranks);
  std::vector<int> senders(int from) const;
  void check_member(int member, std::string_view what) const;
  std::optional<Arrived> look(const Messages::Key& key, std::span<const int> from) const;

  Switchboard& board_;
  std::shared_ptr<const Topology> topology_;
  int own_;
  std::uint64_t context_;
  std::uint64_t collectives_ = 0;
  std::vector<std::uint64_t> allocated_;
};

}  // namespace parajoule::comm
