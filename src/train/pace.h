#pragma once

// The numbers of the live line: what the last moments were like, and what is left.

#include <cstdint>
#include <deque>
#include <optional>

#include "base/quantity.h"
#include "train/agreement.h"

namespace parajoule::train {

/// Sums of the steps of about the last five seconds.
class Pace {
 public:
  void add(base::Seconds now, const Standing& step);

  double loss() const;                ///< mean over the samples
  double top1_error() const;          ///< percent
  double samples_per_second() const;  ///< 0 before there are two steps
  /// Time for `samples` more at this pace.
  std::optional<base::Seconds> time_for(double samples) const;

 private:
  struct Step {
    base::Seconds at;
    Standing standing;
  };
  std::deque<Step> steps_;
  Standing sum_;
};

}  // namespace parajoule::train
