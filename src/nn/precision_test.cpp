#include "nn/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>

#include "base/error.h"
#include "nn/gradients.h"
#include "nn/initialise.h"
#include "nn/task.h"
#include "nn/torch_versions.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

using testing::HasSubstr;

constexpr Input image = {.channels = 3, .height = 8, .width = 8};

std::string refusal(std::string_view name) {
  try {
    precision(name);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    return error.what();
  }
  return "";
}

TEST(Precision, AnUnknownOneIsNamed) {
  EXPECT_THAT(refusal("float23"), HasSubstr("precision = float23"));
  EXPECT_THAT(refusal("float23"), HasSubstr("float"));
}

TEST(Precision, HalfIsRefusedWhereLibtorchHasNoProductsForIt) {
  if (torch_versions::lowers_to_half) {
    EXPECT_EQ(precision("float16"), Precision::float16);
  } else {
    EXPECT_THAT(refusal("float16"), HasSubstr("use bfloat16"));
  }
}

TEST(Precision, WeightsAreKeptInFull) {
  EXPECT_EQ(element_of(Precision::float64), base::Element::float64);
  EXPECT_EQ(element_of(Precision::float32), base::Element::float32);
  EXPECT_EQ(element_of(Precision::bfloat16), base::Element::float32);
  EXPECT_EQ(element_of(Precision::float16), base::Element::float32);
}

/// The gradients of one pass of a small net in float32 memory.
std::vector<float> gradients_in(Precision precision, std::string_view name) {
  Net net = toy::make(name, image, 7);
  toy::Memory<float> memory(net);
  bind(net, memory.replica());
  initialise(net, 2);
  Gradients gradients(net, memory.replica());
  torch::manual_seed(8);
  const at::Tensor inputs = torch::randn({4, 3, 8, 8}), targets = torch::arange(4);
  const auto task = classification(7);
  at::Tensor loss;
  {
    const Lowered lowered(precision);
    loss = task->loss(net.forward(inputs), targets);
  }
  gradients.backward(loss, {}, precision == Precision::float16 ? 1024 : 1);
  return memory.gradients;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  const at::Tensor x = torch::tensor(a).to(at::kDouble), y = torch::tensor(b).to(at::kDouble);
  return (x.dot(y) / (x.norm() * y.norm())).item<double>();
}

TEST(Precision, LowerPrecisionsGiveNearlyTheSameGradients) {
  std::vector<Precision> lower = {Precision::bfloat16};
  if (torch_versions::lowers_to_half) lower.push_back(Precision::float16);
  for (const std::string name : {"mlp", "resnet20"}) {
    const auto full = gradients_in(Precision::float32, name);
    for (const Precision precision : lower) {
      const auto lowered = gradients_in(precision, name);
      EXPECT_NE(lowered, full) << name << ": nothing was lowered";
      EXPECT_GT(cosine(lowered, full), 0.95) << name;
    }
  }
}

TEST(Precision, EndsWithItsScope) {
  { const Lowered lowered(Precision::bfloat16); }
  const at::Tensor product = torch::ones({2, 2}).mm(torch::ones({2, 2}));
  EXPECT_EQ(product.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace parajoule::nn
