#include "nn/profile.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <torch/torch.h>

#include "nn/replica.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

constexpr Input cifar = {.channels = 3, .height = 32, .width = 32};

// 4.0892e9 multiply-adds at 224 x 224 (torchvision's documentation calls them 4.09 GFLOPS).
TEST(Profile, OfResNet50IsThePublishedOne) {
  const schedule::Profile profile = describe(model("resnet50"));
  const schedule::LayerProfile total = profile.total();
  EXPECT_NEAR(double(total.forward_flops), 2 * 4.0892e9, 2 * 0.00005e9);
  EXPECT_EQ(total.parameters, 25557032);
  const schedule::LayerProfile& first = profile.layers.front();
  EXPECT_EQ(first.name, "conv1");
  EXPECT_EQ(first.shape, (std::vector<std::int64_t>{64, 112, 112}));
  EXPECT_EQ(first.forward_flops, 2LL * 64 * 112 * 112 * 3 * 49);
  EXPECT_EQ(first.backward_flops, first.forward_flops);
  EXPECT_EQ(total.backward_flops, 2 * total.forward_flops - first.forward_flops);
  EXPECT_EQ(first.activation_bytes, 4 * 64 * 112 * 112);
  EXPECT_EQ(profile.layers.back().name, "fc");
}

TEST(Profile, OfResNet20IsItsConvolutions) {
  Net net = toy::make("resnet20", cifar, 10);
  std::int64_t expected = 9 * 3 * 16 * 1024 + 64 * 10;  // first and last layer
  expected += 6 * 9 * 16 * 16 * 1024;
  expected += (9 * 16 * 32 + 5 * 9 * 32 * 32) * 256;
  expected += (9 * 32 * 64 + 5 * 9 * 64 * 64) * 64;
  EXPECT_EQ(profile_of(net).total().forward_flops, 2 * expected);
}

TEST(Profile, LeavesTheNetAsItWas) {
  Net net = toy::make("resnet20", cifar, 10);
  toy::Memory<float> memory(net);
  bind(net, memory.replica());
  const auto weights = memory.weights, buffers = memory.buffers;
  profile_of(net);
  EXPECT_EQ(profile_of(net).layers.size(), 20u + 19u);  // 20 layers with weights, 19 of them normed
  EXPECT_EQ(memory.weights, weights);
  EXPECT_EQ(memory.buffers, buffers);
}

TEST(Net, TellsWhenTheTurnOfEachLayerComes) {
  Net net = toy::make("resnet20", cifar, 10);
  const at::Tensor sample = torch::zeros({1, cifar.channels, cifar.height, cifar.width});
  std::vector<int> told, layers(profile_of(net).layers.size());
  std::iota(layers.begin(), layers.end(), 0);
  const at::Tensor output = net.forward(sample, [&](int layer) { told.push_back(layer); });
  EXPECT_EQ(told, layers);
  EXPECT_TRUE(output.equal(net.forward(sample)));
  EXPECT_EQ(told, layers);
}

}  // namespace
}  // namespace parajoule::nn
