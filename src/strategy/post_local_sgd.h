#pragma once

#include <cstdint>
#include <optional>

#include "comm/communicator.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class PostLocalSgd final : public Strategy {
 public:
  struct Options {
    std::int64_t period = 16;
    /// The first epoch of local steps, from 0; none: they begin when the learning rate first falls.
    std::optional<std::int64_t> from_epoch = {};
  };
  PostLocalSgd(comm::Communicator& group, Options options) : group_(group), options_(options) {}

  void step(Worker& worker) override;
  void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;
  void finish(Worker& worker) override;

 private:
  bool local(const Progress& progress);
  void step_together(Worker& worker);
  void step_alone(Worker& worker);

  comm::Communicator& group_;
  Options options_;
  bool local_ = false;
  double last_rate_ = 0;
  std::int64_t local_steps_ = 0;
};

}  // namespace parajoule::strategy
