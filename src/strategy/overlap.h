#pragma once

// The sum of the gradients over all ranks, after the backward pass or while it still runs.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/archive.h"
#include "base/settings.h"
#include "base/vector.h"
#include "comm/communicator.h"
#include "schedule/wait_free.h"
#include "strategy/worker.h"

namespace parajoule::strategy {

/// A way to overlap sums with the backward pass. Option names are unique over all of them.
struct Overlap {
  std::string_view name;  ///< as in `overlap = "lazy"`
  std::string_view summary;
  std::string_view paper;
  std::vector<base::Option> options;
};

std::span<const Overlap> overlaps();

/// Holds unless said otherwise.
inline constexpr std::string_view usual_overlap = "merged";

/// What a method that sums gradients in the pass adds to its options: which overlap, and the
/// options of all of them. Experiments choose it at the top of the file, beside the method.
std::vector<base::Option> overlap_options();

/// The gradients of a pass, summed over the ranks of a group in ranges that all ranks agree on,
/// each begun once it is final on this rank: at the end of the pass, or layer by layer, or merged.
/// The sums are the same whichever it is, as far as the communicator adds up each element alike
/// wherever it lies.
///
/// Where layers are merged by their times, the first passes are measured (nothing overlaps them,
/// and before each a few sums of parts of the gradients are timed), rank 0's numbers decide, and
/// all ranks are told.
class OverlappedSum {
 public:
  /// `settings` has `overlap_options`.
  OverlappedSum(comm::Communicator& group, const base::Settings& settings);

  /// Computes the gradients of this step and leaves in `worker.gradients()` the sum of
  /// factor_r g_r over the ranks r. Each rank has its own factor.
  void compute_gradients(Worker& worker, double factor);

  /// What was measured and decided.
  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  enum class Kind : std::uint8_t { none, layer, by_bytes, by_times, lazy };

  void decide(Worker& worker);
  void compute_measured(Worker& worker, double factor);
  void time_sums(Worker& worker);
  void agree(const schedule::Layout& layout, std::size_t bytes_of_element);

  comm::Communicator& group_;
  Kind kind_;
  std::size_t bytes_;  ///< least bytes of a range
  std::int64_t measured_steps_;
  std::optional<std::vector<base::Range>> ranges_;  ///< once they are known

  // While measuring: the least times so far.
  std::int64_t steps_ = 0;
  std::vector<double> ready_;  ///< seconds of each parameter, last to first, since the last one's
  std::vector<double> sizes_;  ///< bytes of timed sums
  std::vector<double> times_;  ///< and their seconds
};

}  // namespace parajoule::strategy
