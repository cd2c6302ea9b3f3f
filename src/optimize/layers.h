#pragma once

// What layer-wise optimizers work on: whole parameters, each with a norm of its own.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/settings.h"
#include "base/vector.h"
#include "schedule/layout.h"

namespace parajoule::optimize {

/// The parameters of a layout as layers.
class Layers {
 public:
  struct Layer {
    std::string name;
    base::Range range;
    bool adapted;  ///< its rate follows from its norms; else it is the learning rate
  };

  /// Reads `adapt`; `optimizer` is for messages.
  Layers(std::string_view optimizer, const base::Settings& settings,
         const schedule::Layout& layout);

  /// The layers of `range`, in order. The norm of a layer is that of all of it, and in a range that
  /// is summed and updated by itself the rest is not known: one that cuts a layer throws
  /// Error{usage} that names it.
  std::vector<Layer> within(base::Range range) const;

  std::size_t longest() const;

 private:
  std::string optimizer_;
  std::vector<Layer> layers_;
};

/// The Euclidean norm, formed in double.
inline double norm(base::Vector values) { return std::sqrt(values.dot(values)); }

/// `above / below`, but 1 if either is zero: a layer that is zero must be able to leave it.
inline double ratio(double above, double below) {
  return above == 0 || below == 0 ? 1 : above / below;
}

}  // namespace parajoule::optimize
