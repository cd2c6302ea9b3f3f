#pragma once

// float16 and bfloat16 as bits. Rounding is to nearest, ties to even; infinities and NaNs stay what
// they are; what is too large becomes infinite. Branch-free, so that loops over them vectorise.

#include <bit>
#include <cmath>
#include <cstdint>

namespace parajoule::base {

inline float from_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t(bits) << 16);
}

inline std::uint16_t to_bfloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const std::uint32_t quiet = bits >> 16 | 0x40;  // a NaN must not round to infinity
  return std::uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/// The exponent is moved by a multiplication, which makes subnormal numbers normal on the way.
inline float from_float16(std::uint16_t bits) {
  const std::uint32_t magnitude = std::uint32_t(bits & 0x7fff) << 13;
  const float moved = std::bit_cast<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude | 0x7f800000;  // infinity or NaN, payload kept
  const std::uint32_t number = std::bit_cast<std::uint32_t>(moved);
  return std::bit_cast<float>((magnitude >= 0x0f800000 ? special : number) |
                              std::uint32_t(bits & 0x8000) << 16);
}

/// Normal results round by an integer addition on the bits; subnormal ones by adding 0.5, whose
/// last bit has the weight of the smallest float16.
inline std::uint16_t to_float16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7fffffff;
  const std::uint32_t small = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) -
                              std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t normal = (magnitude - (112U << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;
  std::uint32_t result = magnitude < 0x38800000 ? small : normal;
  result = magnitude >= 0x477ff000 ? 0x7c00 : result;                             // 65520 and above
  result = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : result;  // NaN
  return std::uint16_t(result | (bits >> 16 & 0x8000));
}

/// The float32 whose rounding to a narrower type is that of `value`: rounded to odd (Boldo and
/// Melquiond, "Emulation of FMA and correctly rounded sums", 2008), which keeps ties apart.
inline float to_odd(double value) {
  float near = float(value);
  if (double(near) == value || std::isnan(value)) return near;
  if (std::fabs(double(near)) > std::fabs(value))
    near = std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) - 1);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(near) | 1);
}

}  // namespace parajoule::base
