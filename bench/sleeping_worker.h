#pragma once

// A worker that computes by the clock: its passes take the time of a plan, its vectors are real.

#include <chrono>
#include <thread>

#include "comm/communicator.h"
#include "rehearse/plan.h"
#include "strategy/worker.h"

namespace parajoule::bench {

/// Like a device beside the processor: a layer of a pass ends at its time after the pass began,
/// whatever the processor does meanwhile. What happens in a pass is told when it would. Updates and
/// a method's vector operations are real work of the processor.
class SleepingWorker final : public strategy::Worker {
 public:
  enum class Computes { in_time, at_once };

  /// Both outlive it.
  SleepingWorker(comm::Communicator& group, const rehearse::Plan& plan, Computes computes)
      : group_(group),
        plan_(plan),
        computes_(computes),
        weights_(spare()),
        gradients_(spare()),
        buffers_(group.allocate(plan.element, plan.layout.buffer_count())) {}

  base::Vector weights() override { return weights_; }
  base::Vector gradients() override { return gradients_; }
  base::Vector buffers() override { return buffers_; }
  const schedule::Layout& layout() const override { return plan_.layout; }
  base::Vector spare() override {
    return group_.allocate(plan_.element, plan_.layout.parameter_count());
  }
  using strategy::Worker::compute_gradients;
  using strategy::Worker::update;

  void compute_gradients(strategy::Watch& watch) override {
    end_ = Clock::now();
    const int layers = int(plan_.layers.size());
    for (int unit = 0; unit < layers; ++unit) {
      watch.before_forward(unit);
      sleep(plan_.layers[std::size_t(unit)].forward);
    }
    for (int unit = layers - 1; unit >= 0; --unit) {
      const rehearse::LayerTime& layer = plan_.layers[std::size_t(unit)];
      watch.before_backward(unit);
      sleep(layer.backward);
      if (layer.range.size() > 0) watch.ready(layer.range);
    }
  }

  void update(base::Vector weights, base::Vector gradients, base::Range range,
              double learning_rate) override {
    weights[range].add(gradients[range], -learning_rate);
  }
  std::optional<double> momentum() const override { return plan_.momentum; }
  strategy::Progress progress() const override { return progress_; }
  base::Seconds now() const override { return Clock::now().time_since_epoch(); }

  /// Of the loop: the rank takes its next batch.
  void begin_step(std::int64_t step) { progress_ = plan_.progress(step); }

 private:
  using Clock = std::chrono::steady_clock;

  void sleep(base::Seconds seconds) {
    if (computes_ == Computes::at_once) return;
    end_ += std::chrono::round<Clock::duration>(seconds);
    std::this_thread::sleep_until(end_);
  }

  comm::Communicator& group_;
  const rehearse::Plan& plan_;
  Computes computes_;
  base::Vector weights_, gradients_, buffers_;
  strategy::Progress progress_;
  Clock::time_point end_;  ///< of the last layer
};

}  // namespace parajoule::bench
