#include "nn/batch_norm.h"

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <torch/csrc/autograd/functions/utils.h>

#include "nn/parts.h"

namespace parajoule::nn {

namespace {

using channel_loops::Activation;
using channel_loops::Moments;
using channel_loops::Pixels;
using channel_loops::Sums;
using torch::autograd::variable_list;

constexpr auto channels_last = at::MemoryFormat::ChannelsLast;

Pixels pixels_of(const at::Tensor& x) {
  return {std::size_t(x.numel() / x.size(1)), std::size_t(x.size(1))};
}

std::size_t parts() { return std::size_t(at::get_num_threads()); }

/// Calls act(part, first value, pixels) for each part of the pixels.
template <class Act>
void for_parts(Pixels pixels, Act act) {
  const std::size_t all = parts();
  in_parts(all, [&](std::size_t part) {
    const std::size_t first = pixels.count * part / all;
    const std::size_t end = pixels.count * (part + 1) / all;
    act(part, first * pixels.channels, Pixels{end - first, pixels.channels});
  });
}

template <class T>
std::span<const T> values(const at::Tensor& tensor) {
  return {tensor.data_ptr<T>(), std::size_t(tensor.numel())};
}

template <class T>
std::vector<T> rounded(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

/// Of each channel: y = scale x + shift, from the mean and 1 / sqrt(variance + epsilon).
struct Line {
  std::vector<double> mean;
  std::vector<double> inverse_deviation;
  std::vector<double> scale;
  std::vector<double> shift;
};

template <class T>
Line line(const BatchNorm& norm, std::vector<double> mean, const std::vector<double>& variance) {
  const auto gamma = values<T>(norm.gamma), beta = values<T>(norm.beta);
  Line line = {.mean = std::move(mean), .inverse_deviation = {}, .scale = {}, .shift = {}};
  for (std::size_t c = 0; c < gamma.size(); ++c) {
    line.inverse_deviation.push_back(1 / std::sqrt(variance[c] + BatchNorm::epsilon));
    line.scale.push_back(double(gamma[c]) * line.inverse_deviation[c]);
    line.shift.push_back(double(beta[c]) - line.mean[c] * line.scale[c]);
  }
  return line;
}

template <class T>
Moments moments_of(const at::Tensor& x) {
  std::vector<Moments> found(parts(), Moments(pixels_of(x).channels));
  for_parts(pixels_of(x), [&](std::size_t part, std::size_t first, Pixels pixels) {
    add(found[part], x.data_ptr<T>() + first, pixels);
  });
  for (std::size_t part = 1; part < found.size(); ++part) add(found[0], found[part]);
  return found[0];
}

template <class T>
void move_running(const BatchNorm& norm, const Moments& batch) {
  if (batch.count < 2) return;
  T* const mean = norm.running_mean.data_ptr<T>();
  T* const variance = norm.running_variance.data_ptr<T>();
  for (std::size_t c = 0; c < batch.mean.size(); ++c) {
    const double unbiased = batch.squares[c] / (batch.count - 1);
    mean[c] = T((1 - BatchNorm::momentum) * double(mean[c]) + BatchNorm::momentum * batch.mean[c]);
    variance[c] =
        T((1 - BatchNorm::momentum) * double(variance[c]) + BatchNorm::momentum * unbiased);
  }
}

template <class T>
Line batch_line(const at::Tensor& x, const BatchNorm& norm) {
  const Moments batch = moments_of<T>(x);
  move_running<T>(norm, batch);
  std::vector<double> variance;
  for (double squares : batch.squares) variance.push_back(squares / batch.count);
  return line<T>(norm, batch.mean, variance);
}

template <class T>
Line running_line(const BatchNorm& norm) {
  const auto mean = values<T>(norm.running_mean), variance = values<T>(norm.running_variance);
  return line<T>(norm, {mean.begin(), mean.end()}, {variance.begin(), variance.end()});
}

template <class T>
at::Tensor scaled(const at::Tensor& x, const at::Tensor& residual, const Line& line,
                  Activation activation) {
  at::Tensor y = at::empty_like(x);
  const auto scale = rounded<T>(line.scale), shift = rounded<T>(line.shift);
  for_parts(pixels_of(x), [&](std::size_t, std::size_t first, Pixels pixels) {
    channel_loops::scale({.x = x.data_ptr<T>() + first,
                          .residual = residual.defined() ? residual.data_ptr<T>() + first : nullptr,
                          .y = y.data_ptr<T>() + first,
                          .scale = scale,
                          .shift = shift,
                          .activation = activation},
                         pixels);
  });
  return y;
}

/// `tensor` itself where nobody else holds it, so that it may be written over.
at::Tensor writable(const at::Tensor& tensor) {
  const bool ours = tensor.use_count() == 1 && tensor.storage().use_count() == 1;
  return ours ? tensor : at::empty_like(tensor);
}

template <class T>
at::Tensor masked(const at::Tensor& dy, const at::Tensor& y) {
  at::Tensor g = writable(dy);
  for_parts(pixels_of(y), [&](std::size_t, std::size_t first, Pixels pixels) {
    channel_loops::mask(g.data_ptr<T>() + first, dy.data_ptr<T>() + first, y.data_ptr<T>() + first,
                        pixels.count * pixels.channels);
  });
  return g;
}

/// What comes back to x, for the loops.
template <class T>
struct Back {
  Back(const at::Tensor& g, const at::Tensor& x, const Line& line, Activation activation)
      : g(g.data_ptr<T>()),
        x(x.data_ptr<T>()),
        scale(rounded<T>(line.scale)),
        shift(rounded<T>(line.shift)),
        activation(activation) {}
  channel_loops::OutputGradient<T> from(std::size_t first) const {
    return {
        .dy = g + first, .x = x + first, .scale = scale, .shift = shift, .activation = activation};
  }
  const T* g;
  const T* x;
  std::vector<T> scale;
  std::vector<T> shift;
  Activation activation;
};

template <class T>
Sums sums_of(const Back<T>& back, const Line& line, Pixels all) {
  const auto mean = rounded<T>(line.mean);
  std::vector<Sums> found(parts(), Sums(all.channels));
  for_parts(all, [&](std::size_t part, std::size_t first, Pixels pixels) {
    add(found[part], back.from(first), mean, pixels);
  });
  for (std::size_t part = 1; part < found.size(); ++part) {
    for (std::size_t c = 0; c < all.channels; ++c) {
      found[0].g[c] += found[part].g[c];
      found[0].gx[c] += found[part].gx[c];
    }
  }
  return found[0];
}

/// dx = scale (g - mean of g - (x - mean) inverse_deviation^2 (mean of g (x - mean))).
template <class T>
void input_gradient(at::Tensor& dx, const Back<T>& back, const Line& line, const Sums& sums) {
  const Pixels all = pixels_of(dx);
  const double count = double(all.count);
  std::vector<T> p, q;
  for (std::size_t c = 0; c < all.channels; ++c) {
    const double slope =
        -line.scale[c] * line.inverse_deviation[c] * line.inverse_deviation[c] * sums.gx[c] / count;
    p.push_back(T(slope));
    q.push_back(T(-slope * line.mean[c] - line.scale[c] * sums.g[c] / count));
  }
  for_parts(all, [&](std::size_t, std::size_t first, Pixels pixels) {
    channel_loops::input_gradient({.dx = dx.data_ptr<T>() + first, .p = p, .q = q},
                                  back.from(first), pixels);
  });
}

template <class T>
at::Tensor vector(const std::vector<double>& values, const at::Tensor& like) {
  at::Tensor vector = at::empty({std::int64_t(values.size())}, like.options());
  for (std::size_t i = 0; i < values.size(); ++i) vector.data_ptr<T>()[i] = T(values[i]);
  return vector;
}

/// From the gradient of y to those of x, residual, gamma and beta.
class BatchNormBackward final : public torch::autograd::Node {
 public:
  BatchNormBackward(const at::Tensor& x, Line line, Activation activation)
      : x_(x, false), line_(std::move(line)), activation_(activation) {}

  /// With a residual, y alone tells what the ReLU let through.
  void keep(const at::Tensor& y) {
    y_ = torch::autograd::SavedVariable(y, true);
    through_y_ = true;
  }

  variable_list apply(variable_list&& gradients) override {
    at::Tensor dy = std::move(gradients[0]);
    if (!dy.defined()) return variable_list(4);
    const bool exact = dy.scalar_type() == at::kDouble;
    return exact ? back<double>(std::move(dy)) : back<float>(std::move(dy));
  }

  void release_variables() override {
    x_.reset_data();
    y_.reset_data();
  }

 private:
  template <class T>
  variable_list back(at::Tensor g) {
    const torch::NoGradGuard no_grad;
    const at::Tensor x = x_.unpack();
    if (!g.is_contiguous(channels_last)) g = g.contiguous(channels_last);
    if (through_y_) g = masked<T>(g, y_.unpack(shared_from_this()));
    const Back<T> back(g, x, line_, through_y_ ? Activation::none : activation_);
    const Sums sums = sums_of(back, line_, pixels_of(x));
    const bool has_residual = task_should_compute_output(1);
    at::Tensor dx = has_residual ? at::empty_like(x) : writable(g);
    input_gradient(dx, back, line_, sums);
    std::vector<double> dgamma = sums.gx;
    for (std::size_t c = 0; c < dgamma.size(); ++c) dgamma[c] *= line_.inverse_deviation[c];
    return {dx, has_residual ? g : at::Tensor(), vector<T>(dgamma, x), vector<T>(sums.g, x)};
  }

  torch::autograd::SavedVariable x_, y_;
  Line line_;
  Activation activation_;
  bool through_y_ = false;
};

template <class T>
at::Tensor trained(const at::Tensor& x, const at::Tensor& residual, const BatchNorm& norm,
                   Activation activation) {
  Line line = batch_line<T>(x, norm);
  at::Tensor y = scaled<T>(x, residual, line, activation);
  if (!torch::GradMode::is_enabled()) return y;
  const std::shared_ptr<BatchNormBackward> node(
      new BatchNormBackward(x, std::move(line), activation), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x, residual, norm.gamma, norm.beta));
  torch::autograd::set_history(y, node);
  if (residual.defined() && activation == Activation::relu) node->keep(y);
  return y;
}

}  // namespace

at::Tensor batch_norm(const at::Tensor& x, const at::Tensor& residual, const BatchNorm& norm,
                      Activation activation) {
  const bool exact = x.scalar_type() == at::kDouble;
  return exact ? trained<double>(x, residual, norm, activation)
               : trained<float>(x, residual, norm, activation);
}

at::Tensor batch_norm_evaluated(const at::Tensor& x, const at::Tensor& residual,
                                const BatchNorm& norm, Activation activation) {
  if (x.scalar_type() == at::kDouble)
    return scaled<double>(x, residual, running_line<double>(norm), activation);
  return scaled<float>(x, residual, running_line<float>(norm), activation);
}

}  // namespace parajoule::nn
