#pragma once

// What is equal on all ranks of a rehearsal: the model's layers as times, its layout, the batch.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "base/vector.h"
#include "rehearse/machine.h"
#include "schedule/layout.h"
#include "schedule/profile.h"
#include "strategy/worker.h"

namespace parajoule::rehearse {

/// One layer of a pass over one batch.
struct LayerTime {
  base::Seconds forward{0};
  base::Seconds backward{0};
  base::Range range = {};  ///< of its parameters
};

/// Whose device is slow, and when: `[slow]`. Factors multiply the time of computing.
struct Slow {
  std::optional<int> rank = {};  ///< always
  double factor = 1;
  /// Any rank, now and then: each step of each rank is slow with this probability.
  struct Random {
    double probability = 0;
    double factor = 1;
    std::uint64_t seed = 0;
  };
  std::optional<Random> random = {};

  /// Of one step of one rank: equal in every run.
  double of(int rank, std::int64_t step) const;
};

struct Plan {
  std::vector<LayerTime> layers;                   ///< in the order of the forward pass
  schedule::Layout layout;                         ///< one parameter a layer that has any
  base::Element element = base::Element::float32;  ///< of weights and gradients
  double memory_bytes_per_second = 1;
  double state_vectors = 0;  ///< that the optimizer keeps: memory it moves in an update
  std::optional<double> momentum = {};
  double learning_rate = 0;
  std::int64_t local_batch_size = 1;
  std::int64_t ranks_that_train = 1;
  std::int64_t steps = 1;    ///< of the ranks with the largest share of the samples
  std::int64_t samples = 0;  ///< in the training set; 0: nobody said
  std::uint64_t seed = 0;
  Slow slow = {};

  /// Of a rank that trains, when it takes its batch of this step.
  strategy::Progress progress(std::int64_t step) const;
  base::Seconds pass() const;  ///< forward and backward of one batch on a device that is not slow
};

/// A layer takes the longer of its operations at the device's rate for `precision` and of the
/// memory it moves: forward twice its output (read and written), backward four times (the outputs
/// and their gradients), each time its parameters once. Throws Error{input} for a precision that
/// the machine has no rate for.
std::vector<LayerTime> layer_times(const schedule::Profile& profile, const Machine& machine,
                                   const std::string& precision, std::int64_t batch);

/// The same layers, all stretched by one factor, so that a pass takes `measured`.
void stretch(std::vector<LayerTime>& layers, base::Seconds measured);

schedule::Layout layout_of(const schedule::Profile& profile);

}  // namespace parajoule::rehearse
