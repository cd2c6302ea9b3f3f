#include "base/loops.h"

#include <array>
#include <bit>
#include <cmath>

#include "base/narrow.h"

// Each loop is written once, as a template that is inlined into one plain function a type, because
// only plain functions can be compiled for several instruction sets.

namespace parajoule::base::loops {
namespace {

template <class T, class Act>
[[gnu::always_inline]] inline void each(std::span<T> y, Act act) {
  T* const out = y.data();
  const std::size_t n = y.size();
  for (std::size_t i = 0; i < n; ++i) out[i] = act(i);
}

constexpr std::size_t lanes = 16;

/// Adds term(0) ... term(n - 1) up in `lanes` running sums.
template <class Term>
[[gnu::always_inline]] inline double total(std::size_t n, Term term) {
  std::array<double, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
  for (; i < n; ++i) sums[i % lanes] += term(i);
  double all = 0;
  for (double sum : sums) all += sum;
  return all;
}

template <class Bits, class T>
[[gnu::always_inline]] inline Bits largest(std::span<const T> x) {
  constexpr Bits magnitude = Bits(~Bits{0}) >> 1;
  const T* const in = x.data();
  const std::size_t n = x.size();
  Bits most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Bits bits = std::bit_cast<Bits>(in[i]) & magnitude;
    most = bits > most ? bits : most;
  }
  return most;
}

}  // namespace

PARAJOULE_VECTORISED void fill(std::span<float> x, float value) {
  each(x, [=](std::size_t) { return value; });
}
PARAJOULE_VECTORISED void fill(std::span<double> x, double value) {
  each(x, [=](std::size_t) { return value; });
}
PARAJOULE_VECTORISED void fill(std::span<std::uint16_t> x, std::uint16_t value) {
  each(x, [=](std::size_t) { return value; });
}
PARAJOULE_VECTORISED void fill(std::span<std::int64_t> x, std::int64_t value) {
  each(x, [=](std::size_t) { return value; });
}

PARAJOULE_VECTORISED void scale(std::span<float> x, float factor) {
  each(x, [=, in = x.data()](std::size_t i) { return in[i] * factor; });
}
PARAJOULE_VECTORISED void scale(std::span<double> x, double factor) {
  each(x, [=, in = x.data()](std::size_t i) { return in[i] * factor; });
}

PARAJOULE_VECTORISED void add(std::span<float> y, std::span<const float> x, float factor) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) { return a[i] + factor * b[i]; });
}
PARAJOULE_VECTORISED void add(std::span<double> y, std::span<const double> x, double factor) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) { return a[i] + factor * b[i]; });
}
PARAJOULE_VECTORISED void add(std::span<std::uint64_t> y, std::span<const std::uint64_t> x,
                              std::uint64_t factor) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) { return a[i] + factor * b[i]; });
}
PARAJOULE_VECTORISED void add(std::span<std::uint8_t> y, std::span<const std::uint8_t> x,
                              std::uint8_t factor) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) {
    return std::uint8_t(a[i] + factor * b[i]);
  });
}

PARAJOULE_VECTORISED void lerp(std::span<float> y, std::span<const float> x, float weight) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) { return a[i] + weight * (b[i] - a[i]); });
}
PARAJOULE_VECTORISED void lerp(std::span<double> y, std::span<const double> x, double weight) {
  each(y, [=, a = y.data(), b = x.data()](std::size_t i) { return a[i] + weight * (b[i] - a[i]); });
}

PARAJOULE_VECTORISED void multiply(std::span<float> y, std::span<const float> x) {
  each(y, [a = y.data(), b = x.data()](std::size_t i) { return a[i] * b[i]; });
}
PARAJOULE_VECTORISED void multiply(std::span<double> y, std::span<const double> x) {
  each(y, [a = y.data(), b = x.data()](std::size_t i) { return a[i] * b[i]; });
}

PARAJOULE_VECTORISED double dot(std::span<const float> x, std::span<const float> y) {
  return total(x.size(),
               [a = x.data(), b = y.data()](std::size_t i) { return double(a[i]) * double(b[i]); });
}
PARAJOULE_VECTORISED double dot(std::span<const double> x, std::span<const double> y) {
  return total(x.size(), [a = x.data(), b = y.data()](std::size_t i) { return a[i] * b[i]; });
}
PARAJOULE_VECTORISED double sum(std::span<const float> x) {
  return total(x.size(), [a = x.data()](std::size_t i) { return double(a[i]); });
}
PARAJOULE_VECTORISED double sum(std::span<const double> x) {
  return total(x.size(), [a = x.data()](std::size_t i) { return a[i]; });
}
PARAJOULE_VECTORISED double sum_of_magnitudes(std::span<const float> x) {
  return total(x.size(), [a = x.data()](std::size_t i) { return double(std::fabs(a[i])); });
}
PARAJOULE_VECTORISED double sum_of_magnitudes(std::span<const double> x) {
  return total(x.size(), [a = x.data()](std::size_t i) { return std::fabs(a[i]); });
}

PARAJOULE_VECTORISED std::uint16_t largest_bits(std::span<const std::uint16_t> x) {
  return largest<std::uint16_t>(x);
}
PARAJOULE_VECTORISED std::uint32_t largest_bits(std::span<const float> x) {
  return largest<std::uint32_t>(x);
}
PARAJOULE_VECTORISED std::uint64_t largest_bits(std::span<const double> x) {
  return largest<std::uint64_t>(x);
}

PARAJOULE_VECTORISED void convert(std::span<float> to, std::span<const double> from) {
  each(to, [in = from.data()](std::size_t i) { return float(in[i]); });
}
PARAJOULE_VECTORISED void convert(std::span<double> to, std::span<const float> from) {
  each(to, [in = from.data()](std::size_t i) { return double(in[i]); });
}
PARAJOULE_VECTORISED void widen_float16(std::span<float> to, std::span<const std::uint16_t> from) {
  each(to, [in = from.data()](std::size_t i) { return from_float16(in[i]); });
}
PARAJOULE_VECTORISED void widen_bfloat16(std::span<float> to, std::span<const std::uint16_t> from) {
  each(to, [in = from.data()](std::size_t i) { return from_bfloat16(in[i]); });
}
PARAJOULE_VECTORISED void narrow_float16(std::span<std::uint16_t> to, std::span<const float> from) {
  each(to, [in = from.data()](std::size_t i) { return to_float16(in[i]); });
}
PARAJOULE_VECTORISED void narrow_bfloat16(std::span<std::uint16_t> to,
                                          std::span<const float> from) {
  each(to, [in = from.data()](std::size_t i) { return to_bfloat16(in[i]); });
}

}  // namespace parajoule::base::loops
