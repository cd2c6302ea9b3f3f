#pragma once

// What the readings so far amount to, kept as they come: for a line that is shown live.

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/quantity.h"
#include "meter/source.h"
#include "meter/sweep.h"

namespace parajoule::meter {

/// A source as it stands now.
struct Live {
  /// Since the start. None before two readings, and of a counter that has not moved.
  std::optional<base::Joules> energy = {};
  std::optional<base::Watts> power = {};  ///< over about the last second
  std::optional<double> value = {};       ///< the last one, in the source's unit
  std::optional<Gap> gap = {};            ///< why the last reading failed, if it did
};

/// Adds rows up, one source each. Energies are as `account` has them but for the ends of the span.
class LiveState {
 public:
  explicit LiveState(std::span<const Description> descriptions);
  void add(const Row& row);
  std::vector<Live> now() const;

 private:
  struct Point {
    base::Seconds at;
    double value;
    base::Joules energy;
  };
  struct Tracked {
    Quantity quantity;
    std::deque<Point> recent = {};  ///< the last second, and one before
    std::optional<Gap> gap = {};
    bool woke = false;  ///< the machine slept since the last point
  };
  std::vector<Tracked> sources_;
};

}  // namespace parajoule::meter
