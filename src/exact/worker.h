#pragma once

// One rank that trains on an exact problem, in float64: what methods see as a Worker.

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/archive.h"
#include "comm/communicator.h"
#include "exact/clock.h"
#include "exact/problem.h"
#include "optimize/optimizer.h"
#include "strategy/worker.h"

namespace parajoule::exact {

class Pass;

/// The place of a rank in the whole.
struct Role {
  std::optional<int> trainer;  ///< its number among the ranks that train; none: it serves
  int trainers;                ///< how many train
};

/// Makes the optimizer of a rank; for tests of methods with another than the problem's own.
using MakeOptimizer = std::function<std::unique_ptr<optimize::Optimizer>(const schedule::Layout&,
                                                                         const optimize::Memory&)>;

/// The time of a pass is spent in its backward half, evenly over the layers. A rank that serves
/// begins with the weights of the first that trains and has no samples.
class Worker final : public strategy::Worker {
 public:
  struct Options {
    Clock clock = real_clock();
    MakeOptimizer optimizer = {};  ///< none: SGD with the problem's momentum
    std::int64_t epochs = 0;       ///< of the whole run; 0: not known
    /// Told after each update of a rank that serves.
    std::function<void(std::int64_t updates)> served = {};
  };
  /// `group` and `problem` outlive the worker.
  Worker(comm::Communicator& group, const Problem& problem, Role role);
  Worker(comm::Communicator& group, const Problem& problem, Role role, Options options);

  /// Before each step of the method; steps of a rank are numbered from 0.
  void begin_step(std::int64_t step);

  base::Vector weights() override { return weights_; }
  base::Vector gradients() override { return gradients_; }
  base::Vector buffers() override { return buffers_; }
  const schedule::Layout& layout() const override { return layout_; }
  base::Vector spare() override;
  /// A change of the weights between the forward and the backward half is Error{bug}: a model would
  /// silently compute wrong gradients.
  void compute_gradients(strategy::Watch& watch) override;
  void update(base::Vector weights, base::Vector gradients, base::Range range,
              double learning_rate) override;
  /// None for an optimizer that is not the problem's own.
  std::optional<double> momentum() const override;
  strategy::Progress progress() const override { return progress_; }
  /// The training set is the rows of all ranks that train, in their order (samples.h). Refused
  /// where the objective has none.
  base::Vector losses() override;
  void draw(std::span<const std::int64_t> samples) override;
  base::Seconds now() const override { return options_.clock.now(); }
  using strategy::Worker::compute_gradients;
  using strategy::Worker::update;

  /// Weights, buffers, the optimizer's state and what a method drew, as a checkpoint has them.
  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

  Row current_weights() const;

 private:
  void forward(Pass& pass, strategy::Watch& watch);
  void backward(Pass& pass, strategy::Watch& watch);
  std::int64_t samples_of_all(std::int64_t step) const;
  std::int64_t largest_batch() const;
  void take_drawn();
  void keep_losses();

  comm::Communicator& group_;
  const Problem& problem_;
  Role role_;
  Options options_;
  schedule::Layout layout_;
  base::Vector weights_, gradients_, buffers_;
  std::list<Row> state_;  ///< of the optimizer
  std::unique_ptr<optimize::Optimizer> optimizer_;
  strategy::Progress progress_;
  std::int64_t updates_ = 0;
  Row seen_;                         ///< the weights in the forward half
  base::Vector losses_;              ///< of each sample, once a method has asked
  std::vector<std::int64_t> drawn_;  ///< samples of the steps to come
  std::vector<std::int64_t> batch_;  ///< of the step under way, if drawn
  Problem of_batch_;                 ///< which has them alone
};

}  // namespace parajoule::exact
