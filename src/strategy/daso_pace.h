#pragma once

// How often DASO exchanges, from epoch to epoch.

#include <cstdint>
#include <limits>

#include "base/archive.h"

namespace parajoule::strategy {

/// Batches between two exchanges of the nodes, between two mean gradients within a node, and until
/// an exchange is merged. All 0: the nodes average after every batch and wait for it.
struct DasoPace {
  std::int64_t global_skip = 0;
  std::int64_t local_skip = 0;
  std::int64_t wait = 0;
  bool blocking() const { return global_skip == 0; }
  bool operator==(const DasoPace&) const = default;
};

/// Blocking in the first and the last epochs. Between them it begins at `start`, and whenever the
/// loss has not fallen by a twentieth for three epochs, exchanges come twice as often; after every
/// batch they cannot, and the cycle begins again at twice the global skip of the start.
class DasoCycle {
 public:
  struct Options {
    DasoPace start = {.global_skip = 4, .local_skip = 1, .wait = 1};
    std::int64_t warmup_epochs = 4;
    std::int64_t cooldown_epochs = 4;
  };
  explicit DasoCycle(Options options) : options_(options) {}

  /// `epoch`, from 0, of `epochs` (0: not known, no cool-down) begins; `loss`, equal on all ranks,
  /// is that of the epoch before.
  void begin_epoch(std::int64_t epoch, std::int64_t epochs, double loss);
  const DasoPace& pace() const { return pace_; }

  void save(base::Archive& archive) const;
  void load(const base::Archive& archive);

 private:
  bool stable(double loss);
  void quicken();

  Options options_;
  DasoPace pace_;
  double best_ = std::numeric_limits<double>::infinity();
  std::int64_t worse_epochs_ = 0;
};

}  // namespace parajoule::strategy
