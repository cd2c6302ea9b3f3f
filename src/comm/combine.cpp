#include "comm/combine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/error.h"
#include "base/loops.h"

namespace parajoule::comm {
namespace {

using Kind = Collective::Kind;
using base::Element;

constexpr std::size_t piece_bytes = 4 << 10;

// A comparison with NaN is false: what is not greater replaces, unless it is NaN already.
template <class T>
T lesser(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
T greater(T a, T b) {
  return a > b || a != a ? a : b;
}

PARAJOULE_VECTORISED void least(std::span<float> y, std::span<const float> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = lesser(y[i], x[i]);
}
PARAJOULE_VECTORISED void least(std::span<double> y, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = lesser(y[i], x[i]);
}
PARAJOULE_VECTORISED void most(std::span<float> y, std::span<const float> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = greater(y[i], x[i]);
}
PARAJOULE_VECTORISED void most(std::span<double> y, std::span<const double> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = greater(y[i], x[i]);
}
template <class T>
void least(std::span<T> y, std::span<const T> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = lesser(y[i], x[i]);
}
template <class T>
void most(std::span<T> y, std::span<const T> x) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = greater(y[i], x[i]);
}

// How values lie in memory, and as what they are combined.
template <class T>
struct Plain {
  using Stored = T;
  using Wide = T;
  static void read(std::span<T> to, std::span<const T> from) {
    std::memcpy(to.data(), from.data(), from.size_bytes());
  }
  static void write(std::span<T> to, std::span<const T> from) { read(to, from); }
};

struct Float16 {
  using Stored = std::uint16_t;
  using Wide = float;
  static void read(std::span<float> to, std::span<const Stored> from) {
    base::loops::widen_float16(to, from);
  }
  static void write(std::span<Stored> to, std::span<const float> from) {
    base::loops::narrow_float16(to, from);
  }
};

struct Bfloat16 {
  using Stored = std::uint16_t;
  using Wide = float;
  static void read(std::span<float> to, std::span<const Stored> from) {
    base::loops::widen_bfloat16(to, from);
  }
  static void write(std::span<Stored> to, std::span<const float> from) {
    base::loops::narrow_bfloat16(to, from);
  }
};

template <class T>
void scale(std::span<T> x, double factor) {
  if (factor == 1) return;
  if constexpr (std::is_floating_point_v<T>)
    base::loops::scale(x, T(factor));
  else
    base::ensure(false, "whole numbers and bytes are summed with factor 1");
}

void add(std::span<float> y, std::span<const float> x, double factor) {
  base::loops::add(y, x, float(factor));
}
void add(std::span<double> y, std::span<const double> x, double factor) {
  base::loops::add(y, x, factor);
}
template <class T>
void add(std::span<T> y, std::span<const T> x, double factor) {
  base::ensure(factor == 1, "whole numbers and bytes are summed with factor 1");
  using Wrapping = std::make_unsigned_t<T>;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = T(Wrapping(y[i]) + Wrapping(x[i]));
}

/// Values that stay close on their way from all sources to all places: with two passes through a
/// buffer a sum of two ranks took a quarter longer.
template <class T>
using Block = std::integral_constant<std::size_t, 512 / sizeof(T)>;

template <class T, class Count>
[[gnu::always_inline]] inline void sum_block(const Combination& call, std::size_t begin,
                                             Count count) {
  std::array<T, Block<T>::value> sum;
  const auto values = [&](std::size_t source) {
    return reinterpret_cast<const T*>(call.from[source].values) + begin;
  };
  const auto factor = [&](std::size_t source) { return T(call.from[source].factor); };
  const T* const first = values(0);
  const T first_factor = factor(0);
  for (std::size_t i = 0; i < count; ++i) sum[i] = first_factor * first[i];
  for (std::size_t other = 1; other < call.from.size(); ++other) {
    const T* const next = values(other);
    const T next_factor = factor(other);
    for (std::size_t i = 0; i < count; ++i) sum[i] += next_factor * next[i];
  }
  for (std::byte* const place : call.to) {
    T* const to = reinterpret_cast<T*>(place) + begin;
    for (std::size_t i = 0; i < count; ++i) to[i] = sum[i];
  }
}

template <class T>
[[gnu::always_inline]] inline void sum_blocks(const Combination& call) {
  constexpr Block<T> block;
  std::size_t begin = 0;
  for (; begin + block <= call.count; begin += block) sum_block<T>(call, begin, block);
  if (begin < call.count) sum_block<T>(call, begin, call.count - begin);
}

PARAJOULE_VECTORISED void sum_float32(const Combination& call) { sum_blocks<float>(call); }
PARAJOULE_VECTORISED void sum_float64(const Combination& call) { sum_blocks<double>(call); }

template <class Format>
class Combiner {
 public:
  explicit Combiner(const Combination& call) : call_(call) {}

  void all() {
    for (std::size_t begin = 0; begin < call_.count; begin += longest)
      piece(begin, std::min(longest, call_.count - begin));
  }

 private:
  using Stored = typename Format::Stored;
  using Wide = typename Format::Wide;
  static constexpr std::size_t longest = piece_bytes / sizeof(Wide);

  void piece(std::size_t begin, std::size_t count) {
    const std::span<Wide> result = std::span(result_).first(count);
    Format::read(result, source(0, begin, count));
    if (call_.kind == Kind::sum) scale(result, call_.from[0].factor);
    for (std::size_t other = 1; other < call_.from.size(); ++other)
      take(result, widened(other, begin, count), call_.from[other].factor);
    for (std::byte* to : call_.to)
      Format::write({reinterpret_cast<Stored*>(to) + begin, count}, result);
  }

  void take(std::span<Wide> result, std::span<const Wide> values, double factor) {
    if (call_.kind == Kind::sum) add(result, values, factor);
    if (call_.kind == Kind::minimum) least(result, values);
    if (call_.kind == Kind::maximum) most(result, values);
  }

  std::span<const Stored> source(std::size_t number, std::size_t begin, std::size_t count) const {
    return {reinterpret_cast<const Stored*>(call_.from[number].values) + begin, count};
  }

  std::span<const Wide> widened(std::size_t number, std::size_t begin, std::size_t count) {
    if constexpr (std::is_same_v<Stored, Wide>) {
      return source(number, begin, count);
    } else {
      Format::read(std::span(wide_).first(count), source(number, begin, count));
      return std::span<const Wide>(wide_).first(count);
    }
  }

  const Combination& call_;
  std::array<Wide, longest> result_;
  std::array<Wide, std::is_same_v<Stored, Wide> ? 1 : longest> wide_;
};

}  // namespace

void combine(const Combination& call) {
  if (call.from.empty() || call.to.empty()) return;
  if (call.kind == Kind::sum && call.element == Element::float32) return sum_float32(call);
  if (call.kind == Kind::sum && call.element == Element::float64) return sum_float64(call);
  switch (call.element) {
    case Element::float32:
      return Combiner<Plain<float>>(call).all();
    case Element::float64:
      return Combiner<Plain<double>>(call).all();
    case Element::float16:
      return Combiner<Float16>(call).all();
    case Element::bfloat16:
      return Combiner<Bfloat16>(call).all();
    case Element::int64:
      return Combiner<Plain<std::int64_t>>(call).all();
    case Element::byte:
      return Combiner<Plain<std::uint8_t>>(call).all();
  }
}

}  // namespace parajoule::comm
