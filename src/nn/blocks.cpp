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

/// Convolutions with normalisation and ReLU between them. Modules are registered in the order of
/// the forward pass: the last normalisation adds the shortcut, so it comes after the projection.
class Block final : public Residual {
 public:
  Block(const ResidualOptions& options, const std::vector<Convolution::Options>& convolutions)
      : in_(options.in), stride_(options.stride) {
    for (const auto& convolution : convolutions) {
      const std::string number = std::to_string(stages_.size() + 1);
      const bool last = &convolution == &convolutions.back();
      auto layer = register_module("conv" + number, std::make_shared<Convolution>(convolution));
      if (last && options.shortcut == Shortcut::projection) project(convolution.out, options.norm);
      const auto norm = norm_of(options.norm, convolution.out, last ? options.last_gamma : 1);
      stages_.push_back({layer, register_module("bn" + number, std::make_shared<Norm>(norm))});
    }
  }

  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor x = input;
    for (std::size_t i = 0; i + 1 < stages_.size(); ++i) x = apply(stages_[i], x, Activation::relu);
    x = stages_.back().convolution->forward(x);
    const at::Tensor residual = shortcut(input, x.size(1));
    return stages_.back().norm->forward(x, Activation::relu, residual);
  }

 private:
  static at::Tensor apply(Stage& stage, const at::Tensor& x, Activation activation) {
    return stage.norm->forward(stage.convolution->forward(x), activation);
  }

  at::Tensor shortcut(const at::Tensor& input, std::int64_t channels) {
    if (projection_) return apply(*projection_, input, Activation::none);
    return keeps_shape(channels) ? input : widened(input, stride_, channels);
  }

  bool keeps_shape(std::int64_t out) const { return stride_ == 1 && in_ == out; }

  void project(std::int64_t out, const Norm::Options& norm) {
    if (keeps_shape(out)) return;
    auto both = register_module("downsample", std::make_shared<torch::nn::Module>());
    const Convolution::Options options = {.in = in_, .out = out, .kernel = 1, .stride = stride_};
    projection_ = {both->register_module("0", std::make_shared<Convolution>(options)),
                   both->register_module("1", std::make_shared<Norm>(norm_of(norm, out)))};
  }

  std::int64_t in_;
  std::int64_t stride_;
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
