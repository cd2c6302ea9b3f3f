#include "meter/nvml_field.h"

#include <cmath>

#include <fmt/format.h>

namespace parajoule::meter {

namespace {

using Number = std::variant<double, std::string>;

Number blank() { return "a blank value: not available"; }

template <class Unsigned>
Number of(Unsigned value) {
  return is_blank(value) ? blank() : Number(double(value));
}

/// DCGM's blank reals are 2^47 and the few numbers above it.
Number of_real(double value) {
  if (!std::isfinite(value)) return "not a number";
  if (value < 0) return fmt::format("{} is negative", value);
  return value >= 0x1p47 ? blank() : Number(value);
}

template <class Unsigned, class Signed>
Number of_signed(Signed value) {
  if (value < 0) return fmt::format("{} is negative", value);
  return of(Unsigned(value));
}

}  // namespace

bool is_blank(std::uint32_t value) { return value >= 0x7ffffff0U; }
bool is_blank(std::uint64_t value) { return value >= 0x7ffffffffffffff0ULL; }

Number number_in(const NvmlField& field) {
  switch (field.type) {  // nvmlValueType_t; its `unsigned long` has 64 bits on Linux
    case 0:
      return of_real(field.value.real);
    case 1:
      return of(field.value.small);
    case 2:
    case 3:
      return of(field.value.large);
    case 4:
      return of_signed<std::uint64_t>(field.value.large_signed);
    case 5:
      return of_signed<std::uint32_t>(field.value.small_signed);
    case 6:
      return double(field.value.tiny);
    default:
      return fmt::format("a value of the unknown type {}", field.type);
  }
}

}  // namespace parajoule::meter
