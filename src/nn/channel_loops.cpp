#include "nn/channel_loops.h"

#include <algorithm>

// Each loop is written once, as a template that is inlined into one plain function a type, because
// only plain functions can be compiled for several instruction sets.

namespace parajoule::nn::channel_loops {
namespace {

/// Pixels of few channels are taken several at once, as one long row, so that the loop over a row
/// fills the processor's registers.
std::size_t row_pixels(Pixels pixels) {
  constexpr std::size_t wide = 128;
  return std::max<std::size_t>(1, wide / pixels.channels);
}

/// One value a channel, repeated for each pixel of a row.
template <class T, class From>
std::vector<T> repeated(std::span<const From> values, std::size_t times) {
  std::vector<T> row;
  row.reserve(values.size() * times);
  for (std::size_t i = 0; i < times; ++i) row.insert(row.end(), values.begin(), values.end());
  return row;
}

/// Adds the values of a row up to one a channel.
template <class T>
void fold(std::span<const T> row, std::span<double> sums) {
  for (std::size_t i = 0; i < row.size(); i += sums.size()) {
    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += double(row[i + c]);
  }
}

/// Calls act(first value, values) for each row; the last one may be short.
template <class Act>
[[gnu::always_inline]] inline void rows(Pixels pixels, std::size_t width, Act act) {
  const std::size_t size = pixels.count * pixels.channels;
  for (std::size_t at = 0; at < size; at += width) act(at, std::min(width, size - at));
}

/// Values that are summed in their own precision, before they are added up in double.
constexpr std::size_t block_values = 4096;

std::size_t block_pixels(Pixels pixels, std::size_t row) {
  const std::size_t most = std::max(block_values / pixels.channels, 16 * row);
  return most / row * row;
}

/// Adds a block that fits the nearest cache: mean first, then distances from it.
template <class T>
[[gnu::always_inline]] inline void add_block(Moments& all, const T* x, Pixels pixels) {
  const std::size_t channels = pixels.channels, width = row_pixels(pixels) * channels;
  Moments block(channels);
  std::vector<T> sums(width, 0), squares(width, 0);
  T* const sum = sums.data();
  rows(pixels, width, [=](std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) sum[i] += x[at + i];
  });
  fold(std::span<const T>(sums), block.mean);
  block.count = double(pixels.count);
  for (double& mean : block.mean) mean /= block.count;
  const auto means = repeated<T>(std::span<const double>(block.mean), row_pixels(pixels));
  const T* const mean = means.data();
  T* const square = squares.data();
  rows(pixels, width, [=](std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const T distance = x[at + i] - mean[i];
      square[i] += distance * distance;
    }
  });
  fold(std::span<const T>(squares), block.squares);
  add(all, block);
}

template <class T>
[[gnu::always_inline]] inline void add_pixels(Moments& all, const T* x, Pixels pixels) {
  const std::size_t most = block_pixels(pixels, row_pixels(pixels));
  for (std::size_t at = 0; at < pixels.count; at += most) {
    const std::size_t count = std::min(most, pixels.count - at);
    add_block(all, x + at * pixels.channels, {count, pixels.channels});
  }
}

template <bool beside, bool relu, class T>
[[gnu::always_inline]] inline void scale_pixels(const Scaled<T>& call, Pixels pixels) {
  const auto scales = repeated<T>(call.scale, row_pixels(pixels));
  const auto shifts = repeated<T>(call.shift, row_pixels(pixels));
  const T *x = call.x, *residual = call.residual, *scale = scales.data(), *shift = shifts.data();
  T* const y = call.y;
  rows(pixels, scales.size(), [=](std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      T value = x[at + i] * scale[i] + shift[i];
      if constexpr (beside) value += residual[at + i];
      if constexpr (relu) value = value < 0 ? 0 : value;
      y[at + i] = value;
    }
  });
}

template <class T>
[[gnu::always_inline]] inline void scale_all(const Scaled<T>& call, Pixels pixels) {
  const bool relu = call.activation == Activation::relu;
  if (call.residual != nullptr) {
    return relu ? scale_pixels<true, true>(call, pixels) : scale_pixels<true, false>(call, pixels);
  }
  return relu ? scale_pixels<false, true>(call, pixels) : scale_pixels<false, false>(call, pixels);
}

template <bool relu, class T>
[[gnu::always_inline]] inline void sum_pixels(Sums& all, const OutputGradient<T>& call,
                                              std::span<const T> mean_of, Pixels pixels) {
  const std::size_t times = row_pixels(pixels);
  const auto means = repeated<T>(mean_of, times), scales = repeated<T>(call.scale, times),
             shifts = repeated<T>(call.shift, times);
  std::vector<T> sums(means.size()), products(means.size());
  const T *mean = means.data(), *scale = scales.data(), *shift = shifts.data();
  T *const sum = sums.data(), *const product = products.data();
  const std::size_t most = block_pixels(pixels, times);
  for (std::size_t first = 0; first < pixels.count; first += most) {
    const Pixels block = {std::min(most, pixels.count - first), pixels.channels};
    const T *const x = call.x + first * pixels.channels, *dy = call.dy + first * pixels.channels;
    std::ranges::fill(sums, T(0));
    std::ranges::fill(products, T(0));
    rows(block, means.size(), [=](std::size_t at, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        T g = dy[at + i];
        if constexpr (relu) g = x[at + i] * scale[i] + shift[i] <= 0 ? 0 : g;
        sum[i] += g;
        product[i] += g * (x[at + i] - mean[i]);
      }
    });
    fold(std::span<const T>(sums), all.g);
    fold(std::span<const T>(products), all.gx);
  }
}

template <bool relu, class T>
[[gnu::always_inline]] inline void give_pixels(const Gradient<T>& gradient,
                                               const OutputGradient<T>& call, Pixels pixels) {
  const std::size_t times = row_pixels(pixels);
  const auto scales = repeated<T>(call.scale, times), shifts = repeated<T>(call.shift, times),
             ps = repeated<T>(gradient.p, times), qs = repeated<T>(gradient.q, times);
  const T *scale = scales.data(), *shift = shifts.data(), *p = ps.data(), *q = qs.data();
  const T *x = call.x, *dy = call.dy;
  T* const dx = gradient.dx;
  rows(pixels, scales.size(), [=](std::size_t at, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      T g = dy[at + i];
      if constexpr (relu) g = x[at + i] * scale[i] + shift[i] <= 0 ? 0 : g;
      dx[at + i] = g * scale[i] + (x[at + i] * p[i] + q[i]);
    }
  });
}

template <class T>
[[gnu::always_inline]] inline void mask_values(T* g, const T* dy, const T* y, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) g[i] = y[i] <= 0 ? 0 : dy[i];
}

}  // namespace

void add(Moments& all, const Moments& others) {
  const double count = all.count + others.count;
  if (others.count == 0) return;
  const double share = others.count / count;
  for (std::size_t c = 0; c < all.mean.size(); ++c) {
    const double distance = others.mean[c] - all.mean[c];
    all.mean[c] += distance * share;
    all.squares[c] += others.squares[c] + distance * distance * all.count * share;
  }
  all.count = count;
}

PARAJOULE_VECTORISED void add(Moments& all, const float* x, Pixels pixels) {
  add_pixels(all, x, pixels);
}
PARAJOULE_VECTORISED void add(Moments& all, const double* x, Pixels pixels) {
  add_pixels(all, x, pixels);
}

PARAJOULE_VECTORISED void scale(const Scaled<float>& call, Pixels pixels) {
  scale_all(call, pixels);
}
PARAJOULE_VECTORISED void scale(const Scaled<double>& call, Pixels pixels) {
  scale_all(call, pixels);
}

PARAJOULE_VECTORISED void add(Sums& all, const OutputGradient<float>& call,
                              std::span<const float> mean, Pixels pixels) {
  if (call.activation == Activation::relu) return sum_pixels<true>(all, call, mean, pixels);
  sum_pixels<false>(all, call, mean, pixels);
}
PARAJOULE_VECTORISED void add(Sums& all, const OutputGradient<double>& call,
                              std::span<const double> mean, Pixels pixels) {
  if (call.activation == Activation::relu) return sum_pixels<true>(all, call, mean, pixels);
  sum_pixels<false>(all, call, mean, pixels);
}

PARAJOULE_VECTORISED void mask(float* g, const float* dy, const float* y, std::size_t count) {
  mask_values(g, dy, y, count);
}
PARAJOULE_VECTORISED void mask(double* g, const double* dy, const double* y, std::size_t count) {
  mask_values(g, dy, y, count);
}

PARAJOULE_VECTORISED void input_gradient(const Gradient<float>& gradient,
                                         const OutputGradient<float>& call, Pixels pixels) {
  if (call.activation == Activation::relu) return give_pixels<true>(gradient, call, pixels);
  give_pixels<false>(gradient, call, pixels);
}
PARAJOULE_VECTORISED void input_gradient(const Gradient<double>& gradient,
                                         const OutputGradient<double>& call, Pixels pixels) {
  if (call.activation == Activation::relu) return give_pixels<true>(gradient, call, pixels);
  give_pixels<false>(gradient, call, pixels);
}

}  // namespace parajoule::nn::channel_loops
