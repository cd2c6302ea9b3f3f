#include "nn/batch_norm.h"

#include <gtest/gtest.h>

#include "nn/backend.h"

namespace parajoule::nn {
namespace {

using channel_loops::Activation;

/// The case under test: element type, shape, with a residual or not, with ReLU or not.
struct Case {
  at::ScalarType type;
  std::vector<std::int64_t> shape;
  bool beside;
  Activation activation;
};

std::vector<Case> cases() {
  std::vector<Case> cases;
  for (const auto type : {at::kFloat, at::kDouble}) {
    for (const std::vector<std::int64_t>& shape :
         {std::vector<std::int64_t>{5, 3, 7, 6}, {2, 200, 3, 3}, {9, 16, 1, 1}, {1, 4, 5, 5}}) {
      for (const bool beside : {false, true}) {
        for (const Activation activation : {Activation::none, Activation::relu}) {
          cases.push_back({type, shape, beside, activation});
        }
      }
    }
  }
  return cases;
}

at::Tensor image(const Case& the_case) {
  return (2 * torch::randn(the_case.shape, the_case.type) + 1)
      .contiguous(at::MemoryFormat::ChannelsLast)
      .requires_grad_();
}

BatchNorm norm_of(const Case& the_case) {
  const std::int64_t channels = the_case.shape[1];
  return {.gamma = torch::randn(channels, the_case.type).requires_grad_(),
          .beta = torch::randn(channels, the_case.type).requires_grad_(),
          .running_mean = torch::randn(channels, the_case.type),
          .running_variance = torch::rand(channels, the_case.type)};
}

BatchNorm copy_of(const BatchNorm& norm) {
  const auto copy = [](const at::Tensor& x) {
    return x.detach().clone().requires_grad_(x.requires_grad());
  };
  return {copy(norm.gamma), copy(norm.beta), copy(norm.running_mean), copy(norm.running_variance)};
}

/// The oracle: libtorch's own operations, in double.
at::Tensor expected_of(const at::Tensor& x, const at::Tensor& residual, const BatchNorm& norm,
                       Activation activation, bool training) {
  at::Tensor y = at::batch_norm(x, norm.gamma, norm.beta, norm.running_mean, norm.running_variance,
                                training, BatchNorm::momentum, BatchNorm::epsilon, false);
  if (residual.defined()) y = y + residual;
  return activation == Activation::relu ? y.relu() : y;
}

void expect_near(const at::Tensor& a, const at::Tensor& b, const std::string& what) {
  const double tolerance = a.scalar_type() == at::kDouble ? 1e-12 : 2e-5;
  EXPECT_LT((a - b).abs().max().item<double>(), tolerance * (1 + b.abs().max().item<double>()))
      << what;
}

TEST(BatchNorm, IsLibtorchsWithItsGradients) {
  torch::manual_seed(1);
  for (const Case& the_case : cases()) {
    const at::Tensor x = image(the_case),
                     residual = the_case.beside ? image(the_case) : at::Tensor();
    const BatchNorm norm = norm_of(the_case), other = copy_of(norm);
    const at::Tensor y = batch_norm(x, residual, norm, the_case.activation);
    const at::Tensor expected = expected_of(x, residual, other, the_case.activation, true);
    expect_near(y, expected, "y");
    expect_near(norm.running_mean, other.running_mean, "running mean");
    expect_near(norm.running_variance, other.running_variance, "running variance");
    const at::Tensor dy = torch::randn(the_case.shape, the_case.type);
    torch::autograd::variable_list wanted = {x, norm.gamma, norm.beta};
    torch::autograd::variable_list others = {x, other.gamma, other.beta};
    if (the_case.beside) wanted.push_back(residual), others.push_back(residual);
    const auto gradients = torch::autograd::grad({y}, wanted, {dy});
    const auto oracle = torch::autograd::grad({expected}, others, {dy});
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      expect_near(gradients[i], oracle[i], "gradient " + std::to_string(i));
    }
  }
}

TEST(BatchNorm, EvaluatedIsLibtorchs) {
  torch::manual_seed(2);
  const torch::NoGradGuard no_grad;
  for (const Case& the_case : cases()) {
    const at::Tensor x = image(the_case),
                     residual = the_case.beside ? image(the_case) : at::Tensor();
    const BatchNorm norm = norm_of(the_case), before = copy_of(norm);
    expect_near(batch_norm_evaluated(x, residual, norm, the_case.activation),
                expected_of(x, residual, norm, the_case.activation, false), "y");
    EXPECT_TRUE(norm.running_mean.equal(before.running_mean));
  }
}

TEST(BatchNorm, ThreadsShareTheWorkAndAgree) {
  const Case the_case = {at::kDouble, {5, 3, 7, 6}, true, Activation::relu};
  const int before = at::get_num_threads();
  std::vector<at::Tensor> outputs, gradients;
  for (const int threads : {1, 2, 3}) {
    use_threads(threads);
    torch::manual_seed(3);
    const at::Tensor x = image(the_case), residual = image(the_case);
    outputs.push_back(batch_norm(x, residual, norm_of(the_case), the_case.activation));
    gradients.push_back(torch::autograd::grad({(outputs.back() * outputs.back()).sum()}, {x})[0]);
  }
  use_threads(before);
  for (const int i : {1, 2}) {
    expect_near(outputs[i], outputs[0], "y");
    expect_near(gradients[i], gradients[0], "dx");
  }
}

TEST(BatchNorm, ASingleValueLeavesTheRunningStatisticsAlone) {
  const Case the_case = {at::kDouble, {1, 4, 1, 1}, false, Activation::none};
  const BatchNorm norm = norm_of(the_case), before = copy_of(norm);
  const at::Tensor x = image(the_case);
  const at::Tensor y = batch_norm(x, {}, norm, the_case.activation);
  expect_near(y.flatten(), norm.beta, "y");
  EXPECT_TRUE(norm.running_mean.equal(before.running_mean));
  EXPECT_TRUE(norm.running_variance.equal(before.running_variance));
  EXPECT_EQ(torch::autograd::grad({y.sum()}, {x})[0].abs().max().item<double>(), 0);
}

// A gradient that somebody else holds must not be written over.
TEST(BatchNorm, LeavesTheGradientsOfOthersAlone) {
  const Case the_case = {at::kFloat, {2, 4, 3, 3}, true, Activation::relu};
  const at::Tensor x = image(the_case), residual = image(the_case);
  const at::Tensor dy = torch::randn(the_case.shape).contiguous(at::MemoryFormat::ChannelsLast);
  const at::Tensor before = dy.clone();
  const at::Tensor y = batch_norm(x, residual, norm_of(the_case), the_case.activation);
  torch::autograd::grad({y}, {x, residual}, {dy});
  EXPECT_TRUE(dy.equal(before));
}

}  // namespace
}  // namespace parajoule::nn
