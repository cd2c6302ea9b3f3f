#include "nn/initialise.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include <torch/torch.h>

#include "base/seed.h"
#include "nn/body.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

constexpr Input image = {.channels = 3, .height = 32, .width = 32};

/// The values of all parameters as the layers see them, in double precision.
std::vector<at::Tensor> values(Net& net) {
  std::vector<at::Tensor> values;
  for (const at::Tensor& parameter : net.body().parameters()) {
    values.push_back(parameter.detach().to(at::kDouble).contiguous().clone());
  }
  return values;
}

std::vector<at::Tensor> drawn(std::uint64_t seed,
                              const std::map<std::string, base::Value>& given = {}) {
  Net net = toy::make("resnet20", image, 10, given);
  initialise(net, seed);
  return values(net);
}

bool equal(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const at::Tensor& x, const at::Tensor& y) { return x.equal(y); });
}

TEST(Initialise, EqualSeedsGiveEqualWeightsAndOthersDoNot) {
  torch::manual_seed(1);
  const auto first = drawn(5);
  torch::manual_seed(2);
  EXPECT_TRUE(equal(first, drawn(5)));
  const auto other = drawn(6);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool is_drawn = first[i].std().item<double>() > 0;
    EXPECT_EQ(is_drawn, !first[i].equal(other[i])) << "parameter " << i;
  }
}

TEST(Initialise, TheMemoryOrderDoesNotMatter) {
  EXPECT_TRUE(equal(drawn(5, {{"memory_order", std::string("contiguous")}}),
                    drawn(5, {{"memory_order", std::string("channels_last")}})));
}

TEST(Initialise, PrecisionsAgreeUpToRounding) {
  Net net = toy::make("resnet20", image, 10);
  toy::Memory<double> memory(net);
  bind(net, memory.replica());
  initialise(net, 5);
  const auto exact = values(net), rounded = drawn(5);
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_TRUE(exact[i].to(at::kFloat).to(at::kDouble).equal(rounded[i])) << "parameter " << i;
  }
}

// Element i of parameter p is the i-th number of stream p: a promise that checkpoints and other
// ranks rely on.
TEST(Initialise, DrawsFromTheStreamOfTheParameter) {
  const auto weights = drawn(9);
  base::Stream stream = base::stream(9, base::Purpose::weights, 3);  // layer1.0.conv1.weight
  const double deviation = std::sqrt(2.0 / (16 * 9));
  for (int i = 0; i < 5; ++i) {
    EXPECT_FLOAT_EQ(weights[3].view(-1)[i].item<double>(), float(deviation * stream.normal()));
  }
}

TEST(Initialise, WeightsHaveTheSpreadOfHe) {
  Net net = toy::make("resnet18", image, 10);
  initialise(net, 3);
  for (const auto& item : net.body().named_parameters()) {
    const at::Tensor& weight = item.value();
    if (weight.dim() != 4) continue;
    const double fan_out = double(weight.numel()) / double(weight.size(1));
    const double expected = std::sqrt(2 / fan_out);
    // Six deviations of the estimate.
    EXPECT_NEAR(weight.std().item<double>() / expected, 1, 6 / std::sqrt(2.0 * weight.numel()))
        << item.key();
    EXPECT_NEAR(weight.mean().item<double>() / expected, 0, 6 / std::sqrt(1.0 * weight.numel()))
        << item.key();
  }
}

TEST(Initialise, ClassifierHasTheDeviationThatWasAskedFor) {
  for (const char* model : {"resnet50", "resnet20"}) {
    Net net = toy::make(model, image, 200, {{"classifier_deviation", 0.01}});
    initialise(net, 3);
    const at::Tensor* const weight = net.body().named_parameters().find("fc.weight");
    ASSERT_NE(weight, nullptr);
    EXPECT_NEAR(weight->std().item<double>(), 0.01, 0.06 / std::sqrt(2.0 * weight->numel()));
  }
}

TEST(Initialise, ZeroGammaMakesEveryBlockTheIdentity) {
  Net net = toy::make("resnet18", image, 10, {{"zero_gamma", true}});
  initialise(net, 3);
  int zeros = 0;
  for (const auto& item : net.body().named_parameters()) {
    if (item.value().dim() != 1 || !item.key().ends_with("weight")) continue;
    const bool last = item.key().ends_with("bn2.weight");
    EXPECT_TRUE((item.value() == (last ? 0 : 1)).all().item<bool>()) << item.key();
    zeros += last;
  }
  EXPECT_EQ(zeros, 8);
}

}  // namespace
}  // namespace parajoule::nn
