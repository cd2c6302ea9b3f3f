#pragma once

// The checkpoints of a run: which files make one, which one counts, which ones are kept.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/archive.h"
#include "comm/communicator.h"
#include "train/checkpoint_file.h"

namespace parajoule::train {

/// What all ranks have alike, and what a rank has of its own. Numbers grow with every step and
/// every evaluation, so that neither is lost.
struct Checkpoint {
  std::int64_t number = 0;
  base::Archive shared;              ///< rank 0's is written; the others may leave it empty
  std::optional<base::Archive> own;  ///< of this rank; none where replicas do not differ
};

/// The folder of a run's checkpoints, seen by all ranks. A checkpoint is `<number>.ckpt` and, where
/// ranks differ, one `<number>.rank<r>.ckpt` each; the first is written last and lists length and
/// checksum of the others, so a set is complete or does not count. The newest two are kept.
class Checkpoints {
 public:
  /// Makes the folder if there is none. All ranks call this, `save` and `restore` together.
  Checkpoints(std::filesystem::path folder, comm::Communicator& group);

  /// Returns when the checkpoint is on disk and verified. Throws on every rank if one of them could
  /// not write: Error{environment} there, Error{peer} that names it on the others. The checkpoint
  /// before stays. What was just saved or restored is not written again.
  void save(Checkpoint checkpoint);

  struct Restored {
    Checkpoint checkpoint;
    int ranks_with_own = 0;  ///< how many ranks had a part of their own; a rank beyond has none
    /// On rank 0: a line about each newer one that is damaged. It has been renamed to `*.broken`.
    std::vector<std::string> skipped;
  };

  /// The newest checkpoint that is whole; none if the folder holds no checkpoint at all. Throws if
  /// it holds some and none is whole, as to start anew would lose a run in silence: Error{input} on
  /// rank 0, Error{peer} on the others, as whenever a single rank cannot read its part.
  std::optional<Restored> restore();

  /// Called in `save` between the parts of the ranks and the file that makes them count.
  void before_commit(std::function<void()> told) { before_commit_ = std::move(told); }

 private:
  /// Two numbers that a rank tells the others after work that may have failed on it alone.
  using Numbers = std::array<std::int64_t, 2>;

  std::filesystem::path shared_file(std::int64_t number) const;
  std::filesystem::path own_file(std::int64_t number, int rank) const;
  std::vector<Numbers> together(const std::function<Numbers()>& work);
  void write(Checkpoint& checkpoint);
  void commit(Checkpoint& checkpoint, const std::vector<Numbers>& parts) const;
  std::optional<std::int64_t> newest_whole(std::vector<std::string>& skipped) const;
  void check(std::int64_t number) const;
  Restored read(std::int64_t number) const;
  void remove_old() const;

  std::filesystem::path folder_;
  comm::Communicator& group_;
  base::Vector told_;  ///< (ranks, 3) int64: whether the work was done, and its numbers
  std::optional<std::int64_t> last_;
  std::function<void()> before_commit_ = [] {};
};

}  // namespace parajoule::train
