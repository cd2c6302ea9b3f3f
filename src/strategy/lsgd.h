#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "strategy/catalog.h"
#include "strategy/own_vector.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class Lsgd final : public Strategy {
 public:
  struct Options {
    /// Workers and their communicator, in the order of the ranks; 0: the ranks of a node.
    std::int64_t ranks_per_group = 0;
  };
  Lsgd(comm::Communicator& world, Options options);

  /// The last rank of each group is its communicator, and serves. Throws Error{usage} where the
  /// ranks do not make groups of one size with a worker each.
  static Part part(int rank, int ranks, const comm::Nodes& nodes, Options options);

  void step(Worker& worker) override;
  void serve(Worker& worker) override;
  void leave(Worker& worker) override;
  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;
  void finish(Worker& worker) override;

 private:
  using Groups = std::vector<std::vector<int>>;
  static Groups groups(int ranks, const comm::Nodes& nodes, Options options);
  void receive();
  void receive_and_update(Worker& worker);
  bool reduce(base::Vector sum, base::Vector one);
  void broadcast(base::Vector sum);

  comm::Communicator& world_;
  std::vector<int> workers_;                           ///< of this rank's group
  int communicator_ = 0;                               ///< of this rank's group
  std::unique_ptr<comm::Communicator> communicators_;  ///< none on a worker
  enum class Due : std::uint8_t { nothing, receive, update } due_ = Due::nothing;
  OwnVector mean_;   ///< the gradient that is due, once it has been received
  double rate_ = 0;  ///< of its step
};

}  // namespace parajoule::strategy
