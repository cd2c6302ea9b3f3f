#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"
#include "schedule/topology.h"
#include "strategy/own_vector.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class Oldsgd final : public Replicated {
 public:
  struct Options {
    std::int64_t period = 4;
    schedule::Mixing mixing;  ///< this rank's row of W
  };
  Oldsgd(comm::Communicator& group, Options options)
      : Replicated(group), options_(std::move(options)) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  void prepare(Worker& worker);
  void begin_round(base::Vector weights);
  void end_round(base::Vector weights);
  base::Vector received(std::size_t neighbour) const;
  void wait() override;

  Options options_;
  std::int64_t steps_ = 0;
  OwnVector sent_;      ///< z: this rank's weights at the start of the round
  OwnVector received_;  ///< the neighbours' z, end to end
  std::vector<comm::Pending> transfers_;
};

}  // namespace parajoule::strategy
