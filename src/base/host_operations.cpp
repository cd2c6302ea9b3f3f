// The table of operations for memory of this process. float16 and bfloat16 are computed in float32,
// block by block; int64 and byte can be moved, filled and added up.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "base/error.h"
#include "base/host_elements.h"
#include "base/loops.h"
#include "base/narrow.h"
#include "base/vector.h"

namespace parajoule::base {
namespace {

using host::Bits16;
using host::ensure_alike;
using host::is_narrow;
using host::raw;
using host::whole;

/// act(a, b) on float32 copies of narrow `x` and `y`, block by block in order.
template <class Act>
void read_wide(Vector x, Vector y, Act act) {
  constexpr std::size_t block = 512;
  std::array<float, block> a;
  std::array<float, block> b;
  for (std::size_t begin = 0; begin < x.count(); begin += block) {
    const Range range{begin, std::min(begin + block, x.count())};
    host::widen(std::span(a).first(range.size()), x[range]);
    host::widen(std::span(b).first(range.size()), y[range]);
    act(Vector(std::span(a).first(range.size())), Vector(std::span(b).first(range.size())));
  }
}

/// The same, and what act(a, b) left in `a` goes back into `y`.
template <class Act>
void change_wide(Vector y, Vector x, Act act) {
  std::size_t done = 0;
  read_wide(y, x, [&](Vector a, Vector b) {
    act(a, b);
    host::narrow(y[{done, done + a.count()}], a.as<float>());
    done += a.count();
  });
}

/// act(T{}) with the type of the elements of `x`, float or double.
template <class Act>
auto by_type(std::string_view operation, Vector x, Act act) {
  if (x.element() == Element::float32) return act(float{});
  if (x.element() == Element::float64) return act(double{});
  host::unfit(operation, x.element());
}

template <class T>
void gather_as(Vector to, Vector from, std::span<const std::int64_t> index) {
  const std::span<T> out = raw<T>(to);
  const std::span<const T> in = raw<T>(from);
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (std::uint64_t(index[i]) >= in.size()) ensure(false, "an index lies in the vector");
    out[i] = in[std::size_t(index[i])];
  }
}

template <class T>
void scatter_as(Vector to, Vector from, std::span<const std::int64_t> index) {
  const std::span<T> out = raw<T>(to);
  const std::span<const T> in = raw<T>(from);
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (std::uint64_t(index[i]) >= out.size()) ensure(false, "an index lies in the vector");
    out[std::size_t(index[i])] = in[i];
  }
}

/// act(T{}) with an unsigned T as wide as the elements of `x`.
template <class Act>
void by_width(Vector x, Act act) {
  switch (bytes_of(x.element())) {
    case 1:
      return act(std::uint8_t{});
    case 2:
      return act(std::uint16_t{});
    case 4:
      return act(std::uint32_t{});
    default:
      return act(std::uint64_t{});
  }
}

/// The largest magnitude of `x`; NaN if there is one.
double largest(Vector x) {
  switch (x.element()) {
    case Element::float32:
      return std::bit_cast<float>(loops::largest_bits(x.as<float>()));
    case Element::float64:
      return std::bit_cast<double>(loops::largest_bits(x.as<double>()));
    case Element::float16:
      return from_float16(loops::largest_bits(raw<Bits16>(x)));
    case Element::bfloat16:
      return from_bfloat16(loops::largest_bits(raw<Bits16>(x)));
    default:
      host::unfit("largest magnitude", x.element());
  }
}

class HostOperations final : public Operations {
 public:
  void copy(Vector to, Vector from) const override {
    ensure_alike(to, from);
    if (!to.empty()) std::memmove(to.data(), from.data(), to.bytes());
  }

  void cast(Vector to, Vector from) const override { host::cast(to, from); }

  void fill(Vector x, double value) const override {
    host::ensure_host(x);
    const Element element = x.element();
    if (std::bit_cast<std::uint64_t>(value) == 0 && !x.empty())
      std::memset(x.data(), 0, x.bytes());
    else if (element == Element::int64)
      loops::fill(x.as<std::int64_t>(), whole(value, "the value"));
    else if (element == Element::byte)
      std::ranges::fill(raw<std::uint8_t>(x), std::uint8_t(whole(value, "the value")));
    else if (element == Element::float16)
      loops::fill(raw<Bits16>(x), to_float16(to_odd(value)));
    else if (element == Element::bfloat16)
      loops::fill(raw<Bits16>(x), to_bfloat16(to_odd(value)));
    else
      by_type("fill", x, [&]<class T>(T) { loops::fill(x.as<T>(), T(value)); });
  }

  void scale(Vector x, double factor) const override {
    if (is_narrow(x)) return change_wide(x, x, [&](Vector a, Vector) { scale(a, factor); });
    by_type("scale", x, [&]<class T>(T) { loops::scale(x.as<T>(), T(factor)); });
  }

  void add(Vector y, Vector x, double factor) const override {
    ensure_alike(y, x);
    if (is_narrow(y)) return change_wide(y, x, [&](Vector a, Vector b) { add(a, b, factor); });
    if (y.element() == Element::int64)
      return loops::add(raw<std::uint64_t>(y), raw<std::uint64_t>(x),
                        std::uint64_t(whole(factor, "the factor")));
    if (y.element() == Element::byte)
      return loops::add(raw<std::uint8_t>(y), raw<std::uint8_t>(x),
                        std::uint8_t(whole(factor, "the factor")));
    by_type("add", y, [&]<class T>(T) { loops::add(y.as<T>(), x.as<T>(), T(factor)); });
  }

  void lerp(Vector y, Vector x, double weight) const override {
    ensure_alike(y, x);
    if (is_narrow(y)) return change_wide(y, x, [&](Vector a, Vector b) { lerp(a, b, weight); });
    by_type("lerp", y, [&]<class T>(T) { loops::lerp(y.as<T>(), x.as<T>(), T(weight)); });
  }

  void multiply(Vector y, Vector x) const override {
    ensure_alike(y, x);
    if (is_narrow(y)) return change_wide(y, x, [&](Vector a, Vector b) { multiply(a, b); });
    by_type("multiply", y, [&]<class T>(T) { loops::multiply(y.as<T>(), x.as<T>()); });
  }

  double dot(Vector x, Vector y) const override {
    ensure_alike(x, y);
    double all = 0;
    if (is_narrow(x)) return read_wide(x, y, [&](Vector a, Vector b) { all += dot(a, b); }), all;
    return by_type("dot", x, [&]<class T>(T) { return loops::dot(x.as<T>(), y.as<T>()); });
  }

  double sum(Vector x) const override {
    double all = 0;
    if (is_narrow(x)) return read_wide(x, x, [&](Vector a, Vector) { all += sum(a); }), all;
    return by_type("sum", x, [&]<class T>(T) { return loops::sum(x.as<T>()); });
  }

  double sum_of_magnitudes(Vector x) const override {
    double all = 0;
    if (is_narrow(x))
      return read_wide(x, x, [&](Vector a, Vector) { all += sum_of_magnitudes(a); }), all;
    return by_type("sum of magnitudes", x,
                   [&]<class T>(T) { return loops::sum_of_magnitudes(x.as<T>()); });
  }

  double largest_magnitude(Vector x) const override { return largest(x); }
  bool finite(Vector x) const override { return std::isfinite(largest(x)); }

  void gather(Vector to, Vector from, std::span<const std::int64_t> index) const override {
    ensure(to.element() == from.element(), "gather keeps the element type");
    ensure(to.count() == index.size(), "gather fills one element an index");
    by_width(to, [&]<class T>(T) { gather_as<T>(to, from, index); });
  }
  void scatter(Vector to, Vector from, std::span<const std::int64_t> index) const override {
    ensure(to.element() == from.element(), "scatter keeps the element type");
    ensure(from.count() == index.size(), "scatter takes one element an index");
    by_width(to, [&]<class T>(T) { scatter_as<T>(to, from, index); });
  }
};

}  // namespace

const Operations& host_operations() {
  static const HostOperations table;
  return table;
}

}  // namespace parajoule::base
