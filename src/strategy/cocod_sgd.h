#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "strategy/own_vector.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class CocodSgd final : public Replicated {
 public:
  struct Options {
    std::int64_t period = 4;
  };
  CocodSgd(comm::Communicator& group, Options options)
      : Replicated(group), period_(options.period) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  void wait() override { sum_.wait(); }
  void begin_round(Worker& worker);
  void end_round(base::Vector weights);

  std::int64_t period_;
  std::int64_t steps_ = 0;
  OwnVector start_;  ///< this rank's weights at the start of the round
  OwnVector mean_;   ///< theirs summed up, once `sum_` is done
  comm::Pending sum_;
};

}  // namespace parajoule::strategy
