#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class LocalSgd final : public Replicated {
 public:
  struct Options {
    std::int64_t period = 8;
  };
  LocalSgd(comm::Communicator& group, Options options)
      : Replicated(group), period_(options.period) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override { archive.put("steps", steps_); }
  void load(const base::Archive& archive) override { steps_ = archive.whole("steps"); }

 private:
  std::int64_t period_;
  std::int64_t steps_ = 0;
};

}  // namespace parajoule::strategy
