#pragma once

// What the ranks decide together at every step boundary: whether to stop, whether a loss is no
// number, and the loss that is shown. Never derived from a rank's own values alone.

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/communicator.h"

namespace parajoule::train {

/// One rank's part of a step, or the sum over all ranks.
struct Standing {
  double samples = 0;
  double loss = 0;          ///< sum over the samples; a loss that is no number counts as 0 here
  double wrong = 0;         ///< samples whose first guess is wrong
  double stop = 0;          ///< 1 if this rank was told to stop
  double not_a_number = 0;  ///< 1 if this rank's loss is no number
};

/// Adds up the standings of a step while the next `drift` steps run, so that deciding together
/// holds nobody up who may run ahead by as many steps anyway.
class Agreement {
 public:
  /// `drift` is the method's (strategy/catalog.h); all ranks say as many standings.
  Agreement(comm::Communicator& group, std::int64_t drift);

  /// Says this rank's standing at the end of a step. Returns the sum for the step `drift` steps
  /// ago, if there was one: at the same boundary on every rank.
  std::optional<Standing> say(const Standing& own);

  /// Waits for the steps said and not yet returned. All ranks call it at the same boundary.
  std::vector<Standing> drain();

 private:
  static constexpr std::size_t width = 5;
  Standing take_oldest();

  comm::Communicator& group_;
  std::size_t slots_;
  base::Vector memory_;                   ///< slots x width, float64
  std::vector<comm::Pending> under_way_;  ///< of each slot
  std::size_t said_ = 0;
  std::size_t taken_ = 0;
};

}  // namespace parajoule::train
