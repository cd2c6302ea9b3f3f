#include "nn/linear.h"

#include <gtest/gtest.h>

#include "nn/body.h"
#include "nn/gradients.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

using channel_loops::Activation;

TEST(Linear, IsLibtorchsWithItsGradients) {
  torch::manual_seed(1);
  for (const Activation activation : {Activation::none, Activation::relu}) {
    const auto options = torch::dtype(at::kDouble).requires_grad(true);
    const at::Tensor x = torch::randn({5, 4}, options), weight = torch::randn({3, 4}, options),
                     bias = torch::randn(3, options);
    const at::Tensor y = linear(x, weight, bias, activation);
    at::Tensor expected = at::linear(x, weight, bias);
    if (activation == Activation::relu) expected = expected.relu();
    EXPECT_LT((y - expected).abs().max().item<double>(), 1e-14);
    const at::Tensor dy = torch::randn({5, 3}, at::kDouble);
    const auto gradients = torch::autograd::grad({y}, {x, weight, bias}, {dy});
    const auto oracle = torch::autograd::grad({expected}, {x, weight, bias}, {dy});
    for (int i = 0; i < 3; ++i) {
      EXPECT_LT((gradients[i] - oracle[i]).abs().max().item<double>(), 1e-14) << "gradient " << i;
    }
  }
}

/// The same layer twice in a row: its places in the replica serve one use only.
class Twice final : public Body {
 public:
  Twice() {
    weight_ = register_parameter("weight", torch::randn({3, 3}));
    bias_ = register_parameter("bias", torch::randn(3));
  }
  at::Tensor forward(at::Tensor x) override {
    x = linear(x.flatten(1), weight_, bias_, Activation::relu);
    return linear(x, weight_, bias_, Activation::none);
  }

 private:
  at::Tensor weight_, bias_;
};

TEST(Linear, GradientsOfALayerUsedTwiceAddUp) {
  torch::manual_seed(2);
  Net net(std::make_shared<Twice>(), {3, 1, 1}, Order::contiguous);
  toy::Memory<double> memory(net);
  bind(net, memory.replica());
  const at::Tensor x = torch::randn({4, 3, 1, 1}, at::kDouble);
  const auto parameters = net.body().parameters();
  const at::Tensor first = at::linear(x.flatten(1), parameters[0], parameters[1]).relu();
  const at::Tensor output = at::linear(first, parameters[0], parameters[1]);
  const auto oracle = torch::autograd::grad({output.sum()}, {parameters[0], parameters[1]});
  Gradients gradients(net, memory.replica());
  gradients.backward(net.forward(x).sum());
  EXPECT_LT((parameters[0].grad() - oracle[0]).abs().max().item<double>(), 1e-13);
  EXPECT_LT((parameters[1].grad() - oracle[1]).abs().max().item<double>(), 1e-13);
}

}  // namespace
}  // namespace parajoule::nn
