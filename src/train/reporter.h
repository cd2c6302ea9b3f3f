#pragma once

// What a person sees of a run: `cli/` shows it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"

namespace parajoule::train {

/// Energy and power now, of all nodes' counted sources, measured and modelled apart. None where
/// there is no such source.
struct LiveEnergy {
  std::optional<base::Joules> measured_energy = {}, modelled_energy = {};
  std::optional<base::Watts> measured_power = {}, modelled_power = {};

  LiveEnergy& operator+=(const LiveEnergy& other);  ///< of another node
  bool operator==(const LiveEnergy&) const = default;
};

/// The state of training after a step, agreed by all ranks.
struct LiveState {
  std::int64_t epoch = 0;  ///< from 0
  std::int64_t epochs = 0;
  std::int64_t step = 0;          ///< done in this epoch
  std::int64_t steps = 0;         ///< of this epoch
  double loss = 0;                ///< mean over the samples of all ranks in the last moments
  double top1_error = 0;          ///< percent, of the same samples
  double samples_per_second = 0;  ///< of all ranks, over the last moments
  std::optional<base::Seconds> left = {};  ///< estimate to the end of training
  LiveEnergy energy = {};
};

/// One number of an evaluation.
struct Metric {
  std::string set;   ///< "validation", "training"
  std::string name;  ///< "top1_error"
  std::string unit;  ///< "%"
  double value = 0;
};

/// Called on rank 0 alone, from its training thread.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void note(std::string_view) {}
  virtual void live(const LiveState&) {}
  virtual void evaluating(std::int64_t /*epoch*/) {}
  virtual void evaluated(std::int64_t /*epoch*/, const std::vector<Metric>&) {}
};

}  // namespace parajoule::train
