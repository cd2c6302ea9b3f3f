#pragma once

// A rank of a rehearsal: the methods run as they are, on vectors without elements.

#include <cstdint>
#include <span>

#include "comm/communicator.h"
#include "rehearse/plan.h"
#include "simulate/world.h"
#include "strategy/worker.h"

namespace parajoule::rehearse {

/// Passes and updates take the time of the plan. Losses are zero, and so is all that is read.
class Worker final : public strategy::Worker {
 public:
  /// All three outlive it.
  Worker(simulate::World& world, comm::Communicator& group, const Plan& plan);

  base::Vector weights() override { return weights_; }
  base::Vector gradients() override { return gradients_; }
  base::Vector buffers() override { return buffers_; }
  const schedule::Layout& layout() const override { return plan_.layout; }
  base::Vector spare() override;
  using strategy::Worker::compute_gradients;
  using strategy::Worker::update;
  void compute_gradients(strategy::Watch& watch) override;
  void update(base::Vector weights, base::Vector gradients, base::Range range,
              double learning_rate) override;
  std::optional<double> momentum() const override { return plan_.momentum; }
  strategy::Progress progress() const override { return progress_; }
  base::Seconds now() const override { return world_.now(); }
  /// Throws Error{usage} if the plan has no number of samples.
  base::Vector losses() override;
  /// Loading takes no time here.
  void draw(std::span<const std::int64_t>) override {}

  /// Of the loop: the rank takes its next batch.
  void begin_step(std::int64_t step);

 private:
  simulate::World& world_;
  comm::Communicator& group_;
  const Plan& plan_;
  base::Vector weights_, gradients_, buffers_, losses_;
  strategy::Progress progress_;
};

}  // namespace parajoule::rehearse
