#pragma once

// What the operations on host memory share: their checks, and elements of 16 bits seen as float32.

#include <cstdint>
#include <span>
#include <string_view>

#include "base/vector.h"

namespace parajoule::base::host {

using Bits16 = std::uint16_t;

/// A bug: elements of this type have no such operation.
[[noreturn]] void unfit(std::string_view operation, Element element);

void ensure_host(Vector x);
void ensure_equal_counts(Vector x, Vector y);  ///< and on the host
void ensure_alike(Vector x, Vector y);         ///< and of one element type

/// `value` as an integer; a bug if it is not a whole one. `what` names it.
std::int64_t whole(double value, std::string_view what);

/// The elements as numbers of their width, whatever they mean.
template <class T>
std::span<T> raw(Vector x) {
  ensure_host(x);
  return {static_cast<T*>(x.data()), x.count()};
}

/// float16 or bfloat16.
bool is_narrow(Vector x);
void widen(std::span<float> to, Vector from);
void narrow(Vector to, std::span<const float> from);

void cast(Vector to, Vector from);

}  // namespace parajoule::base::host
