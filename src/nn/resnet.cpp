#include "nn/resnet.h"

#include <string>
#include <vector>

#include "nn/blocks.h"

namespace parajoule::nn {

namespace {

class Images final : public Body {
 public:
  Images(const ResNet& resnet, std::int64_t channels, int classes)
      : pooled_(resnet.stem == ResNet::Stem::imagenet) {
    Convolution::Options first = {.in = channels, .out = resnet.width};
    if (pooled_) first = {.in = channels, .out = resnet.width, .kernel = 7, .stride = 2};
    first_ = register_module("conv1", std::make_shared<Convolution>(first));
    norm_ = register_module("bn1", std::make_shared<Norm>(norm_of(resnet.norm, resnet.width)));
    std::int64_t in = resnet.width;
    for (int stage = 0; stage < 4; ++stage) in = add(resnet, stage, in);
    const Linear::Options last = {
        .in = in, .out = classes, .deviation = resnet.classifier_deviation};
    last_ = register_module("fc", std::make_shared<Linear>(last));
  }

  at::Tensor forward(at::Tensor x) override {
    x = norm_->forward(first_->forward(x), Activation::relu);
    if (pooled_) x = at::max_pool2d(x, 3, 2, 1);
    for (const auto& block : blocks_) x = block->forward(x);
    return last_->forward(x.mean({2, 3}));
  }

 private:
  /// Adds the blocks of a stage; returns the channels of its output.
  std::int64_t add(const ResNet& resnet, int stage, std::int64_t in) {
    auto folder =
        register_module("layer" + std::to_string(stage + 1), std::make_shared<torch::nn::Module>());
    const bool basic = resnet.block == ResNet::Block::basic;
    const std::int64_t width = resnet.width << stage;
    for (int i = 0; i < resnet.blocks[stage]; ++i) {
      const ResidualOptions options = {.in = in,
                                       .width = width,
                                       .stride = i == 0 && stage > 0 ? 2 : 1,
                                       .norm = resnet.norm,
                                       .last_gamma = resnet.last_gamma};
      blocks_.push_back(folder->register_module(
          std::to_string(i), basic ? basic_block(options) : bottleneck_block(options)));
      in = basic ? width : 4 * width;
    }
    return in;
  }

  bool pooled_;
  std::shared_ptr<Convolution> first_;
  std::shared_ptr<Norm> norm_;
  std::vector<std::shared_ptr<Residual>> blocks_;
  std::shared_ptr<Linear> last_;
};

}  // namespace

Net make_resnet(const ResNet& resnet, const Input& input, int classes) {
  check_groups(resnet.norm, resnet.width);
  return {std::make_shared<Images>(resnet, input.channels, classes), input, resnet.order};
}

}  // namespace parajoule::nn
