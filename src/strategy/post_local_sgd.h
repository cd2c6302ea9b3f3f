#pragma once

#include <cstdint>
#include <optional>

#include "comm/communicator.h"
#include "strategy/replicated.h"

namespace parajoule::strategy {

class PostLocalSgd final : public Replicated {
 public:
  struct Options {
    std::int64_t period = 16;
    /// The first epoch of local steps, from 0; none: they begin when the learning rate first falls.
    std::optional<std::int64_t> from_epoch = {};
  };
  PostLocalSgd(comm::Communicator& group, Options options) : Replicated(group), options_(options) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override;
  void load(const base::Archive& archive) override;

 private:
  void average(base::Vector weights, base::Vector buffers) override;
  bool local(const Progress& progress);
  void step_together(Worker& worker);
  void step_alone(Worker& worker);

  Options options_;
  bool local_ = false;
  double last_rate_ = 0;
  std::int64_t local_steps_ = 0;
};

}  // namespace parajoule::strategy
