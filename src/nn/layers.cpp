#include "nn/layers.h"

#include <cmath>

namespace parajoule::nn {

namespace {

constexpr double running_share = 0.1;  // of a batch in the running statistics, as torchvision's
constexpr double smallest_variance = 1e-5;

}  // namespace

Convolution::Convolution(const Options& options) : options_(options) {
  const std::int64_t kernel = options.kernel;
  weight_ = register_parameter("weight", torch::zeros({options.out, options.in, kernel, kernel}));
}

at::Tensor Convolution::forward(const at::Tensor& input) {
  const std::int64_t padding = options_.kernel / 2;
  return at::conv2d(input, weight_, {}, options_.stride, padding);
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

at::Tensor Linear::forward(const at::Tensor& input) { return at::linear(input, weight_, bias_); }

// He et al. 2015, arXiv:1502.01852, equation 10; half the variance where no ReLU follows.
std::vector<Initial> Linear::initials() const {
  const double gain = options_.before == Before::relu ? 2 : 1;
  return {{.deviation = std::sqrt(gain / double(options_.in))}, {}};
}

std::int64_t Linear::multiply_adds(const at::Tensor& output) const {
  return output.numel() / output.size(0) * options_.in;
}

Norm::Norm(const Options& options) : options_(options) {
  weight_ = register_parameter("weight", torch::zeros(options.channels));
  bias_ = register_parameter("bias", torch::zeros(options.channels));
  if (options.kind == Kind::group) return;
  mean_ = register_buffer("running_mean", torch::zeros(options.channels));
  variance_ = register_buffer("running_var", torch::ones(options.channels));
}

at::Tensor Norm::forward(const at::Tensor& input) {
  if (options_.kind == Kind::group) {
    return at::group_norm(input, options_.groups, weight_, bias_, smallest_variance);
  }
  return at::batch_norm(input, weight_, bias_, mean_, variance_, is_training(), running_share,
                        smallest_variance, false);
}

std::vector<Initial> Norm::initials() const { return {{.mean = options_.gamma}, {}}; }

std::int64_t Norm::multiply_adds(const at::Tensor&) const { return 0; }

}  // namespace parajoule::nn
