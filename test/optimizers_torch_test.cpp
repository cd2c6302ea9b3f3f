// The optimizers beside PyTorch's own on the same weights and gradients.

#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <torch/torch.h>

#include "optimize/catalog.h"

namespace parajoule {
namespace {

using Given = std::map<std::string, base::Value>;
using Tensors = std::vector<torch::Tensor>;
using TheirsOf = std::function<std::unique_ptr<torch::optim::Optimizer>(Tensors)>;

constexpr std::int64_t count = 1000;

struct Ours {
  std::deque<std::vector<double>> state;
  std::vector<double> weights;
  std::unique_ptr<optimize::Optimizer> optimizer;

  Ours(const char* name, const Given& given, torch::Tensor start)
      : weights(start.data_ptr<double>(), start.data_ptr<double>() + count) {
    const optimize::Entry& entry = optimize::optimizer(name);
    const schedule::Layout layout{
        .parameters = {{.name = "w", .shape = {count}, .range = {0, count}}}, .buffers = {}};
    optimizer = entry.make({name, entry.options, given}, layout, [this](std::size_t elements) {
      return base::Vector(std::span(state.emplace_back(elements)));
    });
  }
};

void compare(const char* name, const Given& given, const TheirsOf& make_theirs) {
  torch::manual_seed(1);
  torch::Tensor theirs = torch::randn({count}, torch::kFloat64).requires_grad_(true);
  Ours ours(name, given, theirs.detach());
  const auto optimizer = make_theirs({theirs});
  for (int step = 0; step < 20; ++step) {
    torch::Tensor gradient = torch::randn({count}, torch::kFloat64);
    theirs.mutable_grad() = gradient.clone();
    optimizer->step();
    const base::Vector g(gradient.data_ptr(), std::size_t(count), base::Element::float64);
    ours.optimizer->step(base::Vector(std::span(ours.weights)), g, {0, std::size_t(count)}, 0.05);
    for (std::int64_t i = 0; i < count; ++i)
      ASSERT_NEAR(ours.weights[std::size_t(i)], theirs.data_ptr<double>()[i], 1e-13)
          << "step " << step << " element " << i;
  }
}

TheirsOf sgd(torch::optim::SGDOptions options) {
  return [=](Tensors weights) { return std::make_unique<torch::optim::SGD>(weights, options); };
}

TEST(BesideTorch, Sgd) {
  compare("sgd", {{"momentum", 0.0}}, sgd(torch::optim::SGDOptions(0.05)));
  compare("sgd", {{"momentum", 0.9}, {"weight_decay", 1e-2}},
          sgd(torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(1e-2)));
  compare("sgd", {{"momentum", 0.8}, {"nesterov", true}, {"weight_decay", 1e-2}},
          sgd(torch::optim::SGDOptions(0.05).momentum(0.8).nesterov(true).weight_decay(1e-2)));
}

TEST(BesideTorch, Adam) {
  compare("adam", {{"beta1", 0.8}, {"weight_decay", 1e-2}}, [](Tensors weights) {
    return std::make_unique<torch::optim::Adam>(
        weights, torch::optim::AdamOptions(0.05).betas({0.8, 0.999}).weight_decay(1e-2));
  });
}

TEST(BesideTorch, AdamW) {
  compare("adamw", {{"epsilon", 1e-6}, {"weight_decay", 0.1}}, [](Tensors weights) {
    return std::make_unique<torch::optim::AdamW>(
        weights, torch::optim::AdamWOptions(0.05).eps(1e-6).weight_decay(0.1));
  });
}

}  // namespace
}  // namespace parajoule
