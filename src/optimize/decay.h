#pragma once

// Which parameters weight decay pulls to zero.

#include <vector>

#include "base/settings.h"
#include "base/vector.h"
#include "schedule/layout.h"

namespace parajoule::optimize {

/// The strength of weight decay along the flat vector, as few ranges of equal strength as there
/// are.
class Decay {
 public:
  struct Piece {
    base::Range range;
    double strength;  ///< lambda, or 0
  };

  /// Reads `weight_decay` and `decay`.
  Decay(const base::Settings& settings, const schedule::Layout& layout);

  /// The pieces of `range`, in order, without gaps.
  std::vector<Piece> within(base::Range range) const;

 private:
  std::vector<Piece> pieces_;
};

}  // namespace parajoule::optimize
