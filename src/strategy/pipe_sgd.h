#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "comm/codec.h"
#include "comm/communicator.h"
#include "comm/sums.h"
#include "strategy/own_vector.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class PipeSgd final : public Strategy {
 public:
  enum class Start : std::uint8_t { zero, repeat };
  struct Options {
    std::int64_t width = 2;              ///< K: iterations in the pipe
    Start start = Start::zero;           ///< what fills the pipe
    std::int64_t warmup_steps = 0;       ///< W: synchronous ones before it
    const comm::Codec* codec = nullptr;  ///< on every hop of a sum; none: sums are exact
  };
  PipeSgd(comm::Communicator& group, Options options);

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;
  void finish(Worker& worker) override;

 private:
  struct Sum {
    OwnVector gradients;
    comm::Pending under_way;
  };
  comm::Pending start_sum(base::Vector gradients, double factor);
  bool synchronous(std::int64_t step) const;
  bool fills_by_repeating(std::int64_t step) const;
  void take_up(Worker& worker);
  void apply_oldest(Worker& worker);
  Sum& keep(Worker& worker);

  comm::Communicator& group_;
  Options options_;
  std::unique_ptr<comm::Summing> ring_;  ///< with a codec
  std::deque<Sum> pipe_;                 ///< G_{t-K+1} ... G_{t-1}: at most K - 1, the oldest first
  std::vector<OwnVector> free_;
};

}  // namespace parajoule::strategy
