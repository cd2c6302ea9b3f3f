#include "nn/layers.h"

#include <cmath>

#include "nn/linear.h"

namespace parajoule::nn {

Convolution::Convolution(const Options& options) : options_(options) {
  const std::int64_t kernel = options.kernel;
  weight_ = register_parameter("weight", torch::zeros({options.out, options.in, kernel, kernel}));
}

at::Tensor Convolution::forward(const at::Tensor& input) {
  const std::int64_t padding = options_.kernel / 2;
  return shown(input, at::conv2d(input, weight_, {}, options_.stride, padding));
}

// He et al. 2015, arXiv:1502.01852, equation 14: keeps the size of the gradients.
std::vector<Initial> Convolution::initials() const {
  const double fan_out = double(options_.out * options_.kernel * options_.kernel);
  return {{.deviation = std::sqrt(2 / fan_out)}};
}

std::int64_t Convolution::multiply_adds(const at::Tensor& output) const {
  return output.numel() / output.size(0) * options_.in * options_.kernel * options_.kernel;
}

Linear::Linear(const Options& options) : options_(options) {
  weight_ = register_parameter("weight", torch::zeros({options.out, options.in}));
  bias_ = register_parameter("bias", torch::zeros(options.out));
}

at::Tensor Linear::forward(const at::Tensor& input) {
  return shown(input, linear(input, weight_, bias_, options_.activation));
}

// He et al. 2015, arXiv:1502.01852, equation 10; half the variance where no ReLU follows.
std::vector<Initial> Linear::initials() const {
  if (options_.deviation > 0) return {{.deviation = options_.deviation}, {}};
  const double gain = options_.activation == Activation::relu ? 2 : 1;
  return {{.deviation = std::sqrt(gain / double(options_.in))}, {}};
}

std::int64_t Linear::multiply_adds(const at::Tensor& output) const {
  return output.numel() / output.size(0) * options_.in;
}

Norm::Norm(const Options& options) : options_(options) {
  const std::int64_t channels = options.channels;
  values_.gamma = register_parameter("weight", torch::zeros(channels));
  values_.beta = register_parameter("bias", torch::zeros(channels));
  if (options.kind == Kind::group) return;
  values_.running_mean = register_buffer("running_mean", torch::zeros(channels));
  values_.running_variance = register_buffer("running_var", torch::ones(channels));
}

at::Tensor Norm::forward(const at::Tensor& input, Activation activation,
                         const at::Tensor& residual) {
  if (options_.kind == Kind::batch && fused(input, residual)) {
    return shown(input, is_training() ? batch_norm(input, residual, values_, activation)
                                      : batch_norm_evaluated(input, residual, values_, activation));
  }
  at::Tensor output = separate(input);
  if (residual.defined()) output = output.add_(residual);
  if (activation == Activation::relu) output = output.relu_();
  return shown(input, output);
}

/// By libtorch's own operations, which take every device, order and precision.
at::Tensor Norm::separate(const at::Tensor& input) const {
  const auto& [gamma, beta, mean, variance] = values_;
  if (options_.kind == Kind::group) {
    return at::group_norm(input, options_.groups, gamma, beta, BatchNorm::epsilon);
  }
  const bool single = is_training() && input.numel() == input.size(1);
  return at::batch_norm(input, gamma, beta, single ? at::Tensor() : mean,
                        single ? at::Tensor() : variance, is_training(), BatchNorm::momentum,
                        BatchNorm::epsilon, false);
}

/// Whether the loops of batch_norm.h can take it.
bool Norm::fused(const at::Tensor& input, const at::Tensor& residual) const {
  const auto fits = [&](const at::Tensor& x) {
    return x.scalar_type() == values_.gamma.scalar_type() && x.device().is_cpu() &&
           x.is_contiguous(at::MemoryFormat::ChannelsLast);
  };
  const bool wants_gradients = !is_training() && torch::GradMode::is_enabled();
  return !wants_gradients && fits(input) && (!residual.defined() || fits(residual));
}

std::vector<Initial> Norm::initials() const { return {{.mean = options_.gamma}, {}}; }

std::int64_t Norm::multiply_adds(const at::Tensor&) const { return 0; }

}  // namespace parajoule::nn
