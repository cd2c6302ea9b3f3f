#include "nn/blocks.h"

#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"

namespace parajoule::nn {

namespace {

struct Stage {
  std::shared_ptr<Convolution> convolution;
  std::shared_ptr<Norm> norm;
};

/// Every stride-th pixel, with channels of zeros up to `channels`.
at::Tensor widened(const at::Tensor& x, std::int64_t stride, std::int64_t channels) {
  const at::Tensor pixels = x.slice(2, 0, {}, stride).slice(3, 0, {}, stride);
  return at::constant_pad_nd(pixels, {0, 0, 0, 0, 0, channels - x.size(1)});
}

/// Convolutions with normalisation and ReLU between them. What a shortcut computes is registered
/// and computed last.
class Block final : public Residual {
 public:
  Block(const ResidualOptions& options, const std::vector<Convolution::Options>& convolutions)
      : stride_(options.stride) {
    for (const auto& convolution : convolutions) {
      const bool last = &convolution == &convolutions.back();
      const std::string number = std::to_string(stages_.size() + 1);
      const auto norm = norm_of(options.norm, convolution.out, last ? options.last_gamma : 1);
      stages_.push_back(
          {register_module("conv" + number, std::make_shared<Convolution>(convolution)),
           register_module("bn" + number, std::make_shared<Norm>(norm))});
    }
    const std::int64_t out = convolutions.back().out;
    changes_shape_ = options.stride != 1 || options.in != out;
    if (!changes_shape_ || options.shortcut == Shortcut::identity) return;
    project({.in = options.in, .out = out, .kernel = 1, .stride = options.stride}, options.norm);
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = input;
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) x = apply(stages_[i], x).relu_();
    x = apply(stages_.back(), x);
    return x.add_(shortcut(input, x.size(1))).relu_();
  }

 private:
  at::Tensor shortcut(const at::Tensor& input, std::int64_t channels) {
    if (!changes_shape_) return input;
    return projection_ ? apply(*projection_, input) : widened(input, stride_, channels);
  }

  static at::Tensor apply(Stage& stage, const at::Tensor& x) {
    return (*stage.norm)((*stage.convolution)(x));
  }

  void project(const Convolution::Options& options, const Norm::Options& norm) {
    auto both = register_module("downsample", std::make_shared<torch::nn::Module>());
    projection_ = {both->register_module("0", std::make_shared<Convolution>(options)),
                   both->register_module("1", std::make_shared<Norm>(norm_of(norm, options.out)))};
  }

  std::int64_t stride_;
  bool changes_shape_ = false;
  std::vector<Stage> stages_;
  std::optional<Stage> projection_;
};

}  // namespace

std::shared_ptr<Residual> basic_block(const ResidualOptions& options) {
  const std::int64_t width = options.width;
  const std::vector<Convolution::Options> convolutions = {
      {.in = options.in, .out = width, .stride = options.stride}, {.in = width, .out = width}};
  return std::make_shared<Block>(options, convolutions);
}

std::shared_ptr<Residual> bottleneck_block(const ResidualOptions& options) {
  const std::int64_t width = options.width;
  const std::vector<Convolution::Options> convolutions = {
      {.in = options.in, .out = width, .kernel = 1},
      {.in = width, .out = width, .stride = options.stride},
      {.in = width, .out = 4 * width, .kernel = 1}};
  return std::make_shared<Block>(options, convolutions);
}

void check_groups(const Norm::Options& norm, std::int64_t channels) {
  if (norm.kind == Norm::Kind::batch || channels % norm.groups == 0) return;
  throw base::Error(base::Fault::usage,
                    fmt::format("groups = {} does not divide the {} channels of a layer; choose "
                                "groups that divide the model's width = {}",
                                norm.groups, channels, channels));
}

}  // namespace parajoule::nn
