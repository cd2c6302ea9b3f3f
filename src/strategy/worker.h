#pragma once

// What a method may ask of its own rank. `train/` backs it with a model and data, `exact/` with a
// formula, `rehearse/` with a clock.

#include <cstdint>
#include <optional>
#include <span>

#include "base/quantity.h"
#include "base/vector.h"
#include "schedule/layout.h"

namespace parajoule::strategy {

/// Told what happens inside one pass, for methods that act there. Empty by default.
class Watch {
 public:
  virtual ~Watch() = default;
  virtual void before_forward(int /*unit*/) {}
  virtual void before_backward(int /*unit*/) {}
  /// The gradients of `range` are final for this pass. Ranges come in the order in which the
  /// backward pass of this rank happens to finish them: agree on an order before you sum them.
  virtual void ready(base::Range /*range*/) {}
};

/// Where training stands, at the beginning of the step under way.
struct Progress {
  std::int64_t step = 0;     ///< of this rank, from 0, over all epochs
  std::int64_t epoch = 0;    ///< from 0
  std::int64_t samples = 0;  ///< this rank takes in this step; 0 if it has none
  /// All ranks that train take in this step together; those of them that take it, as planned, if
  /// ranks take different numbers of steps.
  std::int64_t samples_of_all = 0;
  std::int64_t batch = 0;      ///< samples of a full step, at most; equal on all ranks
  double learning_rate = 0;    ///< of this step
  double loss = 0;             ///< mean over the last epoch, equal on all ranks; 0 before
  std::int64_t epochs = 0;     ///< of the whole run; 0: not known
  bool last_of_epoch = false;  ///< no rank takes another step before the next evaluation
  std::uint64_t seed = 0;      ///< of the run: for what all ranks draw alike
};

class Worker {
 public:
  virtual ~Worker() = default;

  /// This rank's replica, end to end. Their memory comes from the communicator.
  virtual base::Vector weights() = 0;
  virtual base::Vector gradients() = 0;
  virtual base::Vector buffers() = 0;
  virtual const schedule::Layout& layout() const = 0;

  /// One more vector like `weights()`, in the communicator's memory, for the whole run.
  virtual base::Vector spare() = 0;

  /// Forward and backward on this rank's batch of this step. Leaves in `gradients()` the mean over
  /// its samples, zero if it has none. Once a step.
  void compute_gradients() {
    Watch nothing;
    compute_gradients(nothing);
  }
  virtual void compute_gradients(Watch& watch) = 0;

  /// The optimizer's step: moves `weights()` by `gradients()`.
  void update() { update(weights(), gradients()); }
  /// The same on any vectors of this layout.
  void update(base::Vector weights, base::Vector gradients) {
    update(weights, gradients, {0, weights.count()});
  }
  /// The same for the parameters in `range` only; the optimizer's state for them moves too.
  void update(base::Vector weights, base::Vector gradients, base::Range range) {
    update(weights, gradients, range, progress().learning_rate);
  }
  /// The same with a rate of its own: of gradients that belong to an earlier step.
  virtual void update(base::Vector weights, base::Vector gradients, base::Range range,
                      double learning_rate) = 0;

  /// mu of an optimizer v <- mu v + g, w <- w - lr v; 0 is plain SGD, which keeps nothing from one
  /// step to the next. None: its rule has another form (Adam).
  virtual std::optional<double> momentum() const = 0;

  virtual Progress progress() const = 0;
  virtual base::Seconds now() const = 0;

  /// For methods that choose samples by their losses: the latest loss that this rank has computed
  /// of each sample of the training set, in the order of the set, float64, in the communicator's
  /// memory; infinity where it has computed none. `compute_gradients` writes those of its batch, at
  /// the weights before the update; a method may overwrite any. Throws Error{usage} where single
  /// losses are not known.
  virtual base::Vector losses();

  /// The samples (numbers in the training set) that this rank takes in its own order no more, but
  /// in this one: the batch of the step under way is taken anew from the first of them, the next
  /// steps' from those that follow, until they are used up; each step takes as many as it would
  /// have taken. Before `compute_gradients`. Throws
  /// Error{usage} where a rank cannot choose.
  virtual void draw(std::span<const std::int64_t> samples);
};

}  // namespace parajoule::strategy
