#pragma once

// Gradients merged in one agreed order and summed while the backward pass still runs.

#include <cstddef>
#include <functional>
#include <vector>

#include "base/vector.h"
#include "comm/communicator.h"
#include "schedule/layout.h"
#include "strategy/worker.h"

namespace parajoule::strategy {

/// Cuts the parameters, from the last to the first (the order in which a backward pass finishes
/// them), into ranges of at least `bytes`; the first is smaller, so that the sums begin early. A
/// pure function of the layout: the same on all ranks.
std::vector<base::Range> merged_ranges(const schedule::Layout& layout, base::Element element,
                                       std::size_t bytes);

/// Lazy all-reduce: the same, but a range ends as soon as it has more than `threshold` bytes. P.
/// Sun et al., "Optimizing Network Performance for Distributed DNN Training on GPU Clusters", 2019,
/// arXiv:1902.06855 (GradientFlow), section 3. The flat vector of the gradients is the paper's
/// pool, filled from its end; nothing is copied.
std::vector<base::Range> lazy_ranges(const schedule::Layout& layout, base::Element element,
                                     std::size_t threshold);

/// Watches one pass and starts the sum of each merged range once it is final. Sums are started in
/// the order of the ranges, never in the order in which a rank happens to finish them: mis-ordered
/// collectives add up the wrong ranges without an error.
class MergedSum final : public Watch {
 public:
  /// Starts what is to be done with the values of one of the ranges.
  using Start = std::function<comm::Pending(std::size_t range)>;

  /// `ranges` follow each other from the end of the gradients to their beginning.
  MergedSum(std::vector<base::Range> ranges, Start start);
  /// Sums them in place.
  MergedSum(comm::Communicator& group, base::Vector gradients, std::vector<base::Range> ranges,
            double factor);
  MergedSum(const MergedSum&) = delete;

  void before_backward(int) override { push(); }
  void ready(base::Range range) override;

  /// Starts what the pass has not, and waits for all of it.
  void finish();

 private:
  void start_ready();
  /// A started sum moves forward only when it is asked.
  void push();

  std::vector<base::Range> ranges_;
  Start start_;
  std::vector<std::size_t> missing_;  ///< elements of each range that are not final yet
  std::vector<comm::Pending> under_way_;
};

}  // namespace parajoule::strategy
