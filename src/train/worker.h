#pragma once

// One rank that trains a model on data: what methods see as a Worker.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "data/loader.h"
#include "nn/gradients.h"
#include "nn/loss_scale.h"
#include "nn/net.h"
#include "nn/precision.h"
#include "nn/replica.h"
#include "nn/task.h"
#include "optimize/optimizer.h"
#include "strategy/worker.h"
#include "train/batches.h"
#include "train/experiment.h"
#include "train/fault.h"
#include "train/phases.h"

namespace parajoule::train {

/// Memory in which `replica.h` of nn/ lays a model, handed out by the communicator: sums then work
/// in place on it. With `gradients` it can be trained.
nn::Replica allocate_replica(comm::Communicator& group, const schedule::Layout& layout,
                             base::Element element);

class ModelWorker final : public strategy::Worker {
 public:
  struct Parts {
    comm::Communicator& group;
    nn::Net& net;  ///< bound to `replica`
    nn::Replica replica;
    schedule::Layout layout;
    const nn::Task& task;
    optimize::Optimizer& optimizer;
    std::optional<double> momentum;  ///< of the optimizer, see strategy::Worker
    Phases& phases;
    InjectedFault& fault;
    nn::Precision precision = nn::Precision::float32;
    OnNoGradient on_no_gradient = OnNoGradient::abort;
    nn::LossScale& loss_scale;
    Batches& batches;
    std::int64_t samples = 0;  ///< in the training set
  };
  explicit ModelWorker(Parts parts);

  /// Before each step of the method.
  void begin_step(const data::Loader::Batch& batch, data::Axes axes,
                  const strategy::Progress& progress);

  /// What methods that choose samples have asked for and the run must go on with. The names are the
  /// same on all ranks at any time.
  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

  /// Of the step: sum over the samples of the loss, and how many first guesses are wrong.
  double loss_sum() const { return loss_sum_; }
  double wrong() const { return wrong_; }

  base::Vector weights() override { return parts_.replica.weights; }
  base::Vector gradients() override { return parts_.replica.gradients; }
  base::Vector buffers() override { return parts_.replica.buffers; }
  const schedule::Layout& layout() const override { return parts_.layout; }
  base::Vector spare() override;
  void compute_gradients(strategy::Watch& watch) override;
  void update(base::Vector weights, base::Vector gradients, base::Range range,
              double learning_rate) override;
  std::optional<double> momentum() const override { return parts_.momentum; }
  strategy::Progress progress() const override { return progress_; }
  /// Single losses come from the pass that trains: what they cost is in its time.
  base::Vector losses() override;
  /// The rank waits for the batch as for any other.
  void draw(std::span<const std::int64_t> samples) override;
  base::Seconds now() const override { return monotonic_now(); }
  using strategy::Worker::compute_gradients;
  using strategy::Worker::update;

 private:
  void take(const data::Loader::Batch& batch);
  void keep_losses(const at::Tensor& outputs);
  at::Tensor forward(strategy::Watch& watch);
  void backward(const at::Tensor& loss, strategy::Watch& watch);
  void refuse(const std::vector<std::string>& without_gradient) const;
  bool takes_step(base::Vector gradients);

  Parts parts_;
  nn::Gradients backward_;
  strategy::Progress progress_;
  at::Tensor images_;
  at::Tensor labels_;
  std::vector<std::int64_t> indices_;  ///< of the batch, in the training set
  data::Axes axes_ = data::Axes::channels_first;
  base::Vector losses_;                         ///< of each sample, once a method has asked
  std::optional<nn::LossScale::Step> decided_;  ///< of this step, once it is known
  double loss_sum_ = 0;
  double wrong_ = 0;
};

/// The samples of a batch as a tensor (N,C,H,W) that views their memory, and their labels (N).
struct BatchTensors {
  at::Tensor images;
  at::Tensor labels;
};
BatchTensors tensors(const data::Loader::Batch& batch, data::Axes axes, const nn::Input& input,
                     base::Element element);

}  // namespace parajoule::train
