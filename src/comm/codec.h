#pragma once

// How the values of a sum look on their way from rank to rank.

#include <cstddef>

#include "base/vector.h"

namespace parajoule::comm {

/// Makes values shorter for each hop of a sum, and gives them back, perhaps changed a little. It is
/// asked for one chunk at a time, keeps nothing between two of them, and is the same on all ranks.
/// Values may lie nowhere; then only what it would cost is asked for.
class Codec {
 public:
  virtual ~Codec() = default;

  /// Length on the wire of `count` values.
  virtual std::size_t bytes(std::size_t count) const = 0;
  /// `wire` has element type byte and as many as `bytes` says.
  virtual void encode(base::Vector wire, base::Vector values) const = 0;
  virtual void decode(base::Vector values, base::Vector wire) const = 0;
  /// values = values + decoded wire
  virtual void add_decoded(base::Vector values, base::Vector wire) const = 0;
};

}  // namespace parajoule::comm
