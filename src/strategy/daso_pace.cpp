// The rules of helmholtz-analytics/heat (heat/optim: DASO.epoch_loss_logic, DetectMetricPlateau),
// with its numbers as multiples of the start. There a run without warm-up never leaves the blocking
// phase; here it begins with the cycle.
#include "strategy/daso_pace.h"

#include <algorithm>

namespace parajoule::strategy {

constexpr double threshold = 0.05;      // part of the best loss by which a better one is lower
constexpr std::int64_t patience = 2;    // epochs without one that are let pass
constexpr std::int64_t local_part = 4;  // of the global skip, when the cycle begins again

void DasoCycle::begin_epoch(std::int64_t epoch, std::int64_t epochs, double loss) {
  const bool cooling = epochs > 0 && epoch >= epochs - options_.cooldown_epochs;
  if (epoch < options_.warmup_epochs || cooling || options_.start.blocking()) {
    pace_ = {};
    return;
  }
  if (pace_.blocking()) pace_ = options_.start;
  if (epoch > 0 && stable(loss)) quicken();
}

bool DasoCycle::stable(double loss) {
  if (loss < best_ * (1 - threshold)) {
    best_ = loss;
    worse_epochs_ = 0;
  } else {
    ++worse_epochs_;
  }
  if (worse_epochs_ <= patience) return false;
  worse_epochs_ = 0;
  return true;
}

void DasoCycle::quicken() {
  if (pace_.global_skip > 1) {
    pace_.global_skip /= 2;
    pace_.local_skip = std::max<std::int64_t>(1, pace_.local_skip / 2);
    pace_.wait = std::clamp<std::int64_t>(pace_.wait - 1, 1, pace_.global_skip);
  } else {
    pace_.global_skip = 2 * options_.start.global_skip;
    pace_.local_skip = pace_.wait = std::max<std::int64_t>(1, pace_.global_skip / local_part);
  }
}

void DasoCycle::save(base::Archive& archive) const {
  archive.put("global_skip", pace_.global_skip);
  archive.put("local_skip", pace_.local_skip);
  archive.put("wait", pace_.wait);
  archive.put("best_loss", best_);
  archive.put("worse_epochs", worse_epochs_);
}

void DasoCycle::load(const base::Archive& archive) {
  pace_ = {.global_skip = archive.whole("global_skip"),
           .local_skip = archive.whole("local_skip"),
           .wait = archive.whole("wait")};
  best_ = archive.number("best_loss");
  worse_epochs_ = archive.whole("worse_epochs");
}

}  // namespace parajoule::strategy
