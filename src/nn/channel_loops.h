#pragma once

// The loops of batch normalisation over images whose pixels have their channels side by side. Sums
// run in blocks that stay in the nearest cache, then in double, so that memory is read once and the
// results do not depend on the width of the processor's registers.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parajoule::nn::channel_loops {

/// Values of the pixels of all images of a batch, end to end: x[pixel * channels + channel].
struct Pixels {
  std::size_t count = 0;
  std::size_t channels = 0;
};

/// Of each channel: how far the pixels seen so far lie from their mean.
struct Moments {
  explicit Moments(std::size_t channels) : mean(channels, 0), squares(channels, 0) {}
  double count = 0;
  std::vector<double> mean;
  std::vector<double> squares;  ///< sum of (x - mean)^2
};

/// Adds those of other pixels (Chan, Golub, LeVeque 1979, "Updating Formulae and a Pairwise
/// Algorithm for Computing Sample Variances").
void add(Moments& all, const Moments& others);

void add(Moments& all, const float* x, Pixels pixels);
void add(Moments& all, const double* x, Pixels pixels);

enum class Activation : std::uint8_t { none, relu };

/// y = scale x + shift (+ residual), then ReLU; one scale and shift a channel. `residual` may be
/// null. What is not a number stays none.
template <class T>
struct Scaled {
  const T* x;
  const T* residual;
  T* y;
  std::span<const T> scale;
  std::span<const T> shift;
  Activation activation = Activation::none;
};
void scale(const Scaled<float>& call, Pixels pixels);
void scale(const Scaled<double>& call, Pixels pixels);

/// What comes back to x through the ReLU: g = dy where scale x + shift > 0, else 0. Without ReLU
/// g = dy.
template <class T>
struct OutputGradient {
  const T* dy;
  const T* x;
  std::span<const T> scale;
  std::span<const T> shift;
  Activation activation = Activation::none;
};

/// Of each channel.
struct Sums {
  explicit Sums(std::size_t channels) : g(channels, 0), gx(channels, 0) {}
  std::vector<double> g;   ///< sum of g
  std::vector<double> gx;  ///< sum of g (x - mean)
};

void add(Sums& all, const OutputGradient<float>& call, std::span<const float> mean, Pixels pixels);
void add(Sums& all, const OutputGradient<double>& call, std::span<const double> mean,
         Pixels pixels);

/// g = dy where y > 0, else 0. `g` may be `dy`.
void mask(float* g, const float* dy, const float* y, std::size_t count);
void mask(double* g, const double* dy, const double* y, std::size_t count);

/// dx = scale g + p x + q, one p and q a channel. `dx` may be `dy`.
template <class T>
struct Gradient {
  T* dx;
  std::span<const T> p;
  std::span<const T> q;
};
void input_gradient(const Gradient<float>& gradient, const OutputGradient<float>& call,
                    Pixels pixels);
void input_gradient(const Gradient<double>& gradient, const OutputGradient<double>& call,
                    Pixels pixels);

}  // namespace parajoule::nn::channel_loops
