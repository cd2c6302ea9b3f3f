#pragma once

// A published way to train on many ranks.

#include "base/archive.h"
#include "base/vector.h"
#include "strategy/worker.h"

namespace parajoule::strategy {

/// The method drives and the worker obeys, so that `step` reads like the paper's algorithm.
class Strategy {
 public:
  virtual ~Strategy() = default;

  /// One batch of this rank, taken by the loop before the call; asks for gradients once.
  virtual void step(Worker& worker) = 0;

  /// Of a rank that takes no batches: answers those it serves, and returns when each of them has
  /// left. Called again after each meeting.
  virtual void serve(Worker&) {}
  /// Of a rank that trains, between two steps, before all ranks meet (an evaluation, a checkpoint,
  /// the end): tells the ranks that serve it. Nothing is applied, and training goes on after the
  /// meeting as if this had not been called.
  virtual void leave(Worker&) {}

  /// Fills copies of what this method would evaluate; all ranks call it together; nothing else is
  /// touched and training goes on as if it had not been called.
  virtual void evaluation_weights(Worker& worker, base::Vector weights, base::Vector buffers) {
    weights.copy(worker.weights());
    buffers.copy(worker.buffers());
  }

  /// Waits for what is under way and stores it, does not apply it.
  virtual void save(base::Archive&) {}
  virtual void load(const base::Archive&) {}

  /// The end of training: applies or drops what is outstanding.
  virtual void finish(Worker&) {}
};

}  // namespace parajoule::strategy
