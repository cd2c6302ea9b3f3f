#include "base/seed.h"

#include <cmath>
#include <numbers>

namespace parajoule::base {

std::uint64_t Stream::below(std::uint64_t count) {
  using Wide = unsigned __int128;
  Wide product = Wide((*this)()) * count;
  const std::uint64_t threshold = -count % count;
  while (std::uint64_t(product) < threshold) product = Wide((*this)()) * count;
  return std::uint64_t(product >> 64);
}

double Stream::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

}  // namespace parajoule::base
