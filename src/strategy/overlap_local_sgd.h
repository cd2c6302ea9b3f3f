#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "strategy/own_vector.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class OverlapLocalSgd final : public Replicated {
 public:
  struct Options {
    std::int64_t period = 2;
    double pull = 0.6;
    double momentum = 0.7;
  };
  OverlapLocalSgd(comm::Communicator& group, Options options)
      : Replicated(group), options_(options) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  void wait() override { sum_.wait(); }
  void prepare(Worker& worker);
  void move_anchor();

  Options options_;
  std::int64_t steps_ = 0;
  OwnVector mean_;      ///< of the replicas after the last pull, once `sum_` is done
  OwnVector anchor_;    ///< z, equal on all ranks
  OwnVector velocity_;  ///< v
  comm::Pending sum_;
};

}  // namespace parajoule::strategy
