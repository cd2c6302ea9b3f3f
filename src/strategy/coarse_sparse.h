#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "strategy/own_vector.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class CoarseSparse final : public Strategy {
 public:
  struct Options {
    double sparsity = 0.85;                    ///< share of the chunks that is held back
    std::int64_t chunk = 32000;                ///< elements
    std::int64_t warmup_steps = 0;             ///< in which the sparsity rises from 0
    std::int64_t threshold_bytes = 1'000'000;  ///< of important gradients, for a sum to start
  };
  CoarseSparse(comm::Communicator& group, Options options) : group_(group), options_(options) {}

  /// Throws Error{usage} unless the optimizer keeps a velocity (see Worker::momentum).
  static void check_optimizer(std::optional<double> momentum);

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  /// What one sum is made for: elements of the gradients, the important ones of them, and where
  /// these lie in `packed_`.
  struct Region {
    base::Range all;
    std::vector<base::Range> important;
    base::Range packed;
  };

  void begin(Worker& worker);
  void compute_gradients(Worker& worker, double weight);
  comm::Pending start_sum(const Region& region, base::Vector gradients, double weight);
  void measure(base::Vector gradients);
  void hold_back(base::Vector gradients, double momentum);
  void choose(std::int64_t step);
  std::vector<Region> regions() const;
  std::vector<base::Range> ranges(bool important) const;

  comm::Communicator& group_;
  Options options_;
  OwnVector residual_;                   ///< hg: what has not been sent yet
  base::Vector packed_;                  ///< the important chunks, end to end
  base::Vector norms_;                   ///< of each chunk
  std::vector<std::uint8_t> important_;  ///< of each chunk, equal on all ranks
};

}  // namespace parajoule::strategy
