#pragma once

// Phases in rows of the record, few enough for runs of many short steps.

#include <array>
#include <optional>
#include <vector>

#include "base/quantity.h"
#include "store/rows.h"
#include "train/phases.h"

namespace parajoule::train {

/// Puts the spans of a phase that a rank enters again and again into one row for each quarter of a
/// second, so that a thousand steps a second make no more rows than four. The time of each phase
/// stays the same; within the quarter of a second its rows stand one after the other. Longer spans
/// are rows of their own, at their place.
class MergedPhases {
 public:
  static constexpr base::Seconds window{0.25};

  /// `origin`: of the record, on the clock of the intervals.
  MergedPhases(int rank, base::Seconds origin) : rank_(rank), origin_(origin) {}

  /// Takes intervals in their order and adds the rows that are complete.
  void add(const std::vector<Phases::Interval>& intervals, std::vector<store::Phase>& rows);

  /// Adds what is left.
  void flush(std::vector<store::Phase>& rows);

 private:
  int rank_;
  base::Seconds origin_;
  std::optional<base::Seconds> begin_ = {};  ///< of the first interval that is not yet a row
  std::array<base::Seconds, phase_count> spent_{};
};

}  // namespace parajoule::train
