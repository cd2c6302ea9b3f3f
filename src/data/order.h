#pragma once

// Which samples a rank reads, and when: pure functions of (samples, batch size, ranks, seed,
// epoch), the same on every rank.

#include <cstdint>
#include <vector>

#include "base/vector.h"

namespace parajoule::data {

/// The samples 0 ... count - 1 in the order in which an epoch takes them: Fisher and Yates's
/// shuffle (Knuth, The Art of Computer Programming, vol. 2, algorithm P) on numbers drawn from
/// base::stream(seed, Purpose::order, epoch).
std::vector<std::int64_t> order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

/// How the ranks that train share an epoch: step t takes the next `global_batch_size` positions of
/// the epoch's order, and each rank a contiguous part of them. The last step may be short; it is
/// split as evenly as can be, so a rank may have no sample in it, and still takes the step. With
/// another number of ranks at an equal global batch size the same samples come in the same steps.
///
/// Ranks may take different numbers of steps. Then steps are counted as the quickest take them: in
/// `round` of those a rank takes `paces`, spread evenly and each as late as can be, and a step
/// takes as much of the global batch as is due to the ranks that take it.
struct Shards {
  std::int64_t samples = 0;
  std::int64_t global_batch_size = 1;  ///< of a step that all take
  int ranks = 1;                       ///< that train
  int rank = 0;                        ///< number among those that train
  std::int64_t round = 1;
  std::vector<std::int64_t> paces = {};  ///< of each rank, at most `round`; empty: all take all
  std::int64_t before = 0;               ///< steps before this epoch

  /// Of the epoch, equal for all ranks.
  std::int64_t steps() const;
  /// Positions that are taken before `step`, which may lie beyond the end.
  std::int64_t taken(std::int64_t step) const;
  /// Positions all ranks together take in `step`, and those this rank takes.
  base::Range whole(std::int64_t step) const;
  base::Range share(std::int64_t step) const;

  /// Whether this rank takes `step` at all, and how many it takes before that, with those before
  /// the epoch.
  bool takes(std::int64_t step) const { return takes(rank, step); }
  std::int64_t own_steps(std::int64_t step) const { return steps_of(rank, step); }

 private:
  bool takes(int other, std::int64_t step) const {
    return steps_of(other, step + 1) > steps_of(other, step);
  }
  std::int64_t steps_of(int other, std::int64_t step) const;
};

/// What one rank reads, batch by batch.
struct Pass {
  struct Batch {
    std::int64_t number = 0;  ///< of the step or the chunk, counted over all ranks
    base::Range range;        ///< in `samples`; may be empty
  };
  std::vector<std::int64_t> samples = {};
  std::vector<Batch> batches = {};
  bool evaluates = false;  ///< no sample may take the place of another: it would count twice
};

/// One epoch of training from `first_step` on: the steps that this rank takes.
Pass training_pass(const Shards& shards, std::uint64_t seed, std::int64_t epoch,
                   std::int64_t first_step = 0);

/// Samples 0 ... samples - 1 in chunks of `chunk_size`, the last one shorter, dealt whole: rank r
/// of R reads chunks r, r + R, r + 2R ... What a chunk holds does not depend on the ranks.
Pass evaluation_pass(std::int64_t samples, std::int64_t chunk_size, int rank, int ranks);

}  // namespace parajoule::data
