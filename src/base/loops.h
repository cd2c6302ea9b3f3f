#pragma once

// The loops under `host_operations`: each is compiled for several instruction sets and the one for
// this processor is chosen at start. Spans of one call are of equal length and may be the same
// memory, but must not overlap otherwise.

#include <cstddef>
#include <cstdint>
#include <span>

namespace parajoule::base::loops {

void fill(std::span<float> x, float value);
void fill(std::span<double> x, double value);
void fill(std::span<std::uint16_t> x, std::uint16_t value);
void fill(std::span<std::int64_t> x, std::int64_t value);

void scale(std::span<float> x, float factor);
void scale(std::span<double> x, double factor);

void add(std::span<float> y, std::span<const float> x, float factor);
void add(std::span<double> y, std::span<const double> x, double factor);
void add(std::span<std::uint64_t> y, std::span<const std::uint64_t> x, std::uint64_t factor);
void add(std::span<std::uint8_t> y, std::span<const std::uint8_t> x, std::uint8_t factor);

void lerp(std::span<float> y, std::span<const float> x, float weight);
void lerp(std::span<double> y, std::span<const double> x, double weight);

void multiply(std::span<float> y, std::span<const float> x);
void multiply(std::span<double> y, std::span<const double> x);

// Sums are formed in 16 running sums of doubles, element i in number i mod 16, which are added in
// order at the end: the same bits on every processor.
double dot(std::span<const float> x, std::span<const float> y);
double dot(std::span<const double> x, std::span<const double> y);
double sum(std::span<const float> x);
double sum(std::span<const double> x);
double sum_of_magnitudes(std::span<const float> x);
double sum_of_magnitudes(std::span<const double> x);

/// The largest of the elements' bits without the sign: larger magnitudes have larger bits, infinity
/// larger ones than any number, and NaN larger ones still.
std::uint16_t largest_bits(std::span<const std::uint16_t> x);
std::uint32_t largest_bits(std::span<const float> x);
std::uint64_t largest_bits(std::span<const double> x);

void convert(std::span<float> to, std::span<const double> from);
void convert(std::span<double> to, std::span<const float> from);
void widen_float16(std::span<float> to, std::span<const std::uint16_t> from);
void widen_bfloat16(std::span<float> to, std::span<const std::uint16_t> from);
void narrow_float16(std::span<std::uint16_t> to, std::span<const float> from);
void narrow_bfloat16(std::span<std::uint16_t> to, std::span<const float> from);

}  // namespace parajoule::base::loops
