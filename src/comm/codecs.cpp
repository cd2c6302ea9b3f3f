#include "comm/codecs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/narrow.h"

namespace parajoule::comm {
namespace {

using base::Element;
using base::Vector;

/// act(T{}) with the type of the values.
template <class Act>
void by_type(Vector values, Act act) {
  if (values.element() == Element::float64) return act(double{});
  act(float{});
}

/// Where there are no values: one pass over them.
bool only_costs(Vector values) {
  if (values.place() != base::Place::nowhere) return false;
  values.scale(1);
  return true;
}

std::uint16_t upper_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool no_number = (bits & 0x7fffffff) > 0x7f800000;
  return std::uint16_t(bits >> 16 |
                       (no_number ? 0x40 : 0));  // its payload may be in the lower half
}

class Truncate16 final : public Codec {
 public:
  std::size_t bytes(std::size_t count) const override { return 2 * count; }

  void encode(Vector wire, Vector values) const override {
    if (only_costs(values)) return;
    by_type(values, [&]<class T>(T) {
      std::uint16_t* const out = static_cast<std::uint16_t*>(wire.data());
      for (std::size_t i = 0; const T value : values.as<T>()) out[i++] = upper_half(float(value));
    });
  }
  void decode(Vector values, Vector wire) const override {
    each(values, wire, [](auto, auto decoded) { return decoded; });
  }
  void add_decoded(Vector values, Vector wire) const override {
    each(values, wire, [](auto value, auto decoded) { return value + decoded; });
  }

 private:
  template <class Act>
  static void each(Vector values, Vector wire, Act act) {
    if (only_costs(values)) return;
    by_type(values, [&]<class T>(T) {
      const std::uint16_t* const in = static_cast<const std::uint16_t*>(wire.data());
      for (std::size_t i = 0; T & value : values.as<T>())
        value = act(value, T(base::from_bfloat16(in[i++])));
    });
  }
};

/// On the wire: s as float32, then a byte a value.
class Scale8 final : public Codec {
 public:
  std::size_t bytes(std::size_t count) const override { return count == 0 ? 0 : head + count; }

  void encode(Vector wire, Vector values) const override {
    if (values.empty()) return;
    const auto s = float(values.largest_magnitude() / most);
    if (only_costs(values)) return;
    std::memcpy(wire.data(), &s, head);
    std::int8_t* const out = static_cast<std::int8_t*>(wire.data()) + head;
    by_type(values, [&]<class T>(T) {
      for (std::size_t i = 0; const T value : values.as<T>())
        out[i++] = std::isfinite(s) && s > 0 ? nearest(double(value) / double(s)) : std::int8_t(0);
    });
  }
  void decode(Vector values, Vector wire) const override {
    each(values, wire, [](auto, auto decoded) { return decoded; });
  }
  void add_decoded(Vector values, Vector wire) const override {
    each(values, wire, [](auto value, auto decoded) { return value + decoded; });
  }

 private:
  static constexpr std::size_t head = sizeof(float);
  static constexpr double most = 127;

  static std::int8_t nearest(double value) {
    return std::int8_t(std::clamp(std::nearbyint(value), -most, most));
  }

  template <class Act>
  static void each(Vector values, Vector wire, Act act) {
    if (values.empty() || only_costs(values)) return;
    float s = 0;
    std::memcpy(&s, wire.data(), head);
    const std::int8_t* const in = static_cast<const std::int8_t*>(wire.data()) + head;
    by_type(values, [&]<class T>(T) {
      for (std::size_t i = 0; T & value : values.as<T>())
        value = act(value, T(float(in[i++]) * s));  // 0 times what is not finite is no number
    });
  }
};

}  // namespace

const Codec& truncate16() {
  static const Truncate16 codec;
  return codec;
}

const Codec& scale8() {
  static const Scale8 codec;
  return codec;
}

}  // namespace parajoule::comm
