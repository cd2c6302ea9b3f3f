#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class LocalSgd final : public Strategy {
 public:
  struct Options {
    std::int64_t period = 8;
  };
  LocalSgd(comm::Communicator& group, Options options) : group_(group), period_(options.period) {}

  void step(Worker& worker) override;
  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) override;
  void save(base::Archive& archive) override { archive.put("steps", steps_); }
  void load(const base::Archive& archive) override { steps_ = archive.whole("steps"); }
  void finish(Worker& worker) override;

 private:
  comm::Communicator& group_;
  std::int64_t period_;
  std::int64_t steps_ = 0;
};

}  // namespace parajoule::strategy
