#pragma once

#include <cstdint>
#include <optional>

#include "comm/communicator.h"
#include "strategy/own_vector.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class HierarchicalParallelSgd final : public Strategy {
 public:
  struct Options {
    std::int64_t period = 4;  ///< H: steps of a period
    bool adaptive = false;    ///< a period ends when the sum of the last has arrived everywhere
  };
  HierarchicalParallelSgd(comm::Communicator& group, Options options)
      : group_(group), options_(options) {}

  /// Throws Error{usage} unless the optimizer is plain SGD (see Worker::momentum).
  static void check_optimizer(std::optional<double> momentum);

  void step(Worker& worker) override;
  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;
  void finish(Worker& worker) override;

 private:
  void begin(Worker& worker);
  bool period_is_over();
  void apply_last_period(Worker& worker);

  comm::Communicator& group_;
  Options options_;
  OwnVector global_;        ///< W, equal on all ranks
  OwnVector sum_;           ///< S: this rank's gradients since the period began
  OwnVector last_;          ///< P: those of the period before, of all ranks once they have arrived
  bool has_last_ = false;   ///< whether P exists
  comm::Pending arriving_;  ///< P
  std::int64_t steps_ = 0;  ///< of the period
};

}  // namespace parajoule::strategy
