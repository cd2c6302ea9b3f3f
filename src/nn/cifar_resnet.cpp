#include "nn/cifar_resnet.h"

#include <string>
#include <vector>

namespace parajoule::nn {

namespace {

class SmallImages final : public Body {
 public:
  SmallImages(const CifarResNet& resnet, std::int64_t channels, int classes) {
    first_ = register_module("conv1", std::make_shared<Convolution>(Convolution::Options{
                                          .in = channels, .out = resnet.width}));
    norm_ = register_module("bn1", std::make_shared<Norm>(norm_of(resnet.norm, resnet.width)));
    std::int64_t in = resnet.width;
    for (int stage = 0; stage < 3; ++stage) in = add(resnet, stage, in);
    const Linear::Options last = {
        .in = in, .out = classes, .deviation = resnet.classifier_deviation};
    last_ = register_module("fc", std::make_shared<Linear>(last));
  }

  at::Tensor forward(at::Tensor x) override {
    x = norm_->forward(first_->forward(x), Activation::relu);
    for (const auto& block : blocks_) x = block->forward(x);
    return last_->forward(x.mean({2, 3}));
  }

 private:
  /// Adds the blocks of a stage; returns the channels of its output.
  std::int64_t add(const CifarResNet& resnet, int stage, std::int64_t in) {
    auto folder =
        register_module("layer" + std::to_string(stage + 1), std::make_shared<torch::nn::Module>());
    const std::int64_t width = resnet.width << stage;
    for (int i = 0; i < resnet.blocks; ++i) {
      const ResidualOptions options = {.in = in,
                                       .width = width,
                                       .stride = i == 0 && stage > 0 ? 2 : 1,
                                       .norm = resnet.norm,
                                       .last_gamma = resnet.last_gamma,
                                       .shortcut = resnet.shortcut};
      blocks_.push_back(folder->register_module(std::to_string(i), basic_block(options)));
      in = width;
    }
    return in;
  }

  std::shared_ptr<Convolution> first_;
  std::shared_ptr<Norm> norm_;
  std::vector<std::shared_ptr<Residual>> blocks_;
  std::shared_ptr<Linear> last_;
};

}  // namespace

Net make_cifar_resnet(const CifarResNet& resnet, const Input& input, int classes) {
  check_groups(resnet.norm, resnet.width);
  return {std::make_shared<SmallImages>(resnet, input.channels, classes), input, resnet.order};
}

}  // namespace parajoule::nn
