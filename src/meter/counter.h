#pragma once

// Energy counters that pass their range and begin again, made into one that never falls.

#include <optional>

#include "base/quantity.h"
#include "meter/source.h"

namespace parajoule::meter {

/// Adds up the differences of a hardware counter. A fall is a pass through the range if the power
/// that this would mean is possible, else a slip of the counter: one odd reading is dropped and
/// costs nothing, two that agree with each other are a new beginning. More than the device can draw
/// may come for as long as `slack`, and is no energy from then on. A counter that leaps back to
/// where it was before a new beginning has slipped for a while: the leap is no energy.
class Counter {
 public:
  struct Options {
    std::optional<base::Joules> range = {};  ///< the value it never reaches; none: not known
    base::Watts most{3000};                  ///< more than the device can ever draw
    base::Seconds slack{0.5};  ///< the device may show its energy so much late, in one step
  };

  explicit Counter(const Options& options) : options_(options) {}

  /// `raw` is what the counter shows at `now`. The value is the first reading plus all energy
  /// since. A gap `implausible` loses nothing; `reset` and `missed_wrap` lose energy that no later
  /// reading brings back.
  Reading update(base::Joules raw, base::Seconds now);

 private:
  struct Shown {
    base::Joules raw;
    base::Seconds at;
  };
  std::optional<base::Joules> growth(base::Joules from, base::Joules to) const;
  std::optional<base::Joules> plausible_growth(Shown from, Shown to) const;
  Reading accept(Shown shown, base::Joules growth);
  bool returns(Shown shown) const;
  Reading doubt(Shown shown);
  void settle(Shown before, Shown shown);

  Options options_;
  std::optional<Shown> last_;  ///< the last one believed
  std::optional<Shown> odd_;   ///< the last one not believed, if nothing was believed since
  std::optional<Shown> left_;  ///< where the last new beginning left, and the total there
  base::Joules total_there_;
  base::Joules begun_there_;  ///< where it began anew
  base::Joules total_;
  base::Joules credit_;  ///< that may come at once, beside what the time since explains
};

}  // namespace parajoule::meter
