#include "nn/mlp.h"

#include <string>

#include "nn/layers.h"

namespace parajoule::nn {

namespace {

class Mlp final : public Body {
 public:
  Mlp(std::int64_t in, const std::vector<std::int64_t>& hidden, int classes) {
    for (std::int64_t out : hidden) {
      add({.in = in, .out = out, .activation = Activation::relu});
      in = out;
    }
    add({.in = in, .out = classes});
  }

  at::Tensor forward(at::Tensor x) override {
    x = x.flatten(1);
    for (const auto& layer : layers_) x = layer->forward(x);
    return x;
  }

 private:
  void add(const Linear::Options& options) {
    const std::string name = "layer" + std::to_string(layers_.size() + 1);
    layers_.push_back(register_module(name, std::make_shared<Linear>(options)));
  }

  std::vector<std::shared_ptr<Linear>> layers_;
};

}  // namespace

Net make_mlp(const std::vector<std::int64_t>& hidden, const Input& input, int classes) {
  const std::int64_t in = input.channels * input.height * input.width;
  return {std::make_shared<Mlp>(in, hidden, classes), input, Order::contiguous};
}

}  // namespace parajoule::nn
