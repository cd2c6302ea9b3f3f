#pragma once

// Finds out that a buffer was written while it was on its way.

#include <cstdint>
#include <string_view>

#include "base/vector.h"

namespace parajoule::simulate {

/// A checksum of a vector's elements, taken when a transfer starts and compared when it is through.
/// Over MPI the same mistake gives silently wrong numbers.
class Seal {
 public:
  Seal() = default;
  explicit Seal(base::Vector values) : sum_(sum_of(values)) {}
  /// Throws Error{bug} that names the rank and the call.
  void check(base::Vector values, int rank, std::string_view what) const;

 private:
  static std::uint64_t sum_of(base::Vector values);
  std::uint64_t sum_ = 0;
};

}  // namespace parajoule::simulate
