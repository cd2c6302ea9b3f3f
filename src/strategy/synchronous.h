#pragma once

#include "comm/communicator.h"
#include "strategy/merge.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class Synchronous final : public Strategy {
 public:
  enum class Overlap { none, merged };
  struct Options {
    Overlap overlap = Overlap::merged;
    std::size_t merge_bytes = std::size_t(4) << 20;
  };
  Synchronous(comm::Communicator& group, Options options) : group_(group), options_(options) {}

  void step(Worker& worker) override;

 private:
  comm::Communicator& group_;
  Options options_;
  std::vector<base::Range> ranges_;
};

}  // namespace parajoule::strategy
