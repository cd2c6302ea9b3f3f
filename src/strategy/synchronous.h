#pragma once

#include "comm/communicator.h"
#include "strategy/overlap.h"
#include "strategy/strategy.h"

namespace parajoule::strategy {

class Synchronous final : public Strategy {
 public:
  /// `settings` has `overlap_options`.
  Synchronous(comm::Communicator& group, const base::Settings& settings)
      : gradients_(group, settings) {}

  void step(Worker& worker) override;
  void save(base::Archive& archive) override { gradients_.save(archive); }
  void load(const base::Archive& archive) override { gradients_.load(archive); }

 private:
  OverlappedSum gradients_;
};

}  // namespace parajoule::strategy
