#include "nn/replica.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include <torch/torch.h>

#include "nn/body.h"
#include "nn/gradients.h"
#include "nn/initialise.h"
#include "nn/task.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

constexpr Input image = {.channels = 3, .height = 12, .width = 12};

std::map<std::string, base::Value> narrow(std::string_view name) {
  if (name == "mlp") return {{"hidden", std::vector<std::int64_t>{20, 10}}};
  return {{"width", std::int64_t{8}}};
}

Net made(std::string_view name) {
  Net net = toy::make(name, image, 7, narrow(name));
  initialise(net, 4);
  return net;
}

struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
};

Batch batch(std::int64_t samples) {
  torch::manual_seed(8);
  return {torch::randn({samples, 3, 12, 12}), torch::randint(7, {samples}, at::kLong)};
}

at::Tensor loss_of(Net& net, const Batch& batch) {
  return classification(7)->loss(net.forward(batch.inputs), batch.targets);
}

/// The gradients of libtorch's own accumulators, in a net with memory of its own.
std::vector<at::Tensor> own_gradients(Net& net, const Batch& batch) {
  loss_of(net, batch).backward();
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : net.body().parameters()) {
    gradients.push_back(parameter.grad().clone());
  }
  return gradients;
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  const double size = a.norm().item<double>();
  return (a - b).norm().item<double>() / (size > 0 ? size : 1);
}

class FlatModel : public testing::TestWithParam<std::string> {};

TEST_P(FlatModel, LayoutHasNoGapsAndTheNamesAndShapesOfTheNet) {
  Net net = made(GetParam());
  const schedule::Layout layout = layout_of(net);
  const auto named = net.body().named_parameters();
  ASSERT_EQ(layout.parameters.size(), named.size());
  std::size_t end = 0;
  std::set<int> places;
  for (const schedule::Parameter& parameter : layout.parameters) {
    EXPECT_EQ(parameter.range.begin, end) << parameter.name;
    end = parameter.range.end;
    const at::Tensor* const tensor = named.find(parameter.name);
    ASSERT_NE(tensor, nullptr) << parameter.name;
    EXPECT_EQ(tensor->sizes(), at::IntArrayRef(parameter.shape)) << parameter.name;
    EXPECT_EQ(parameter.range.size(), std::size_t(tensor->numel())) << parameter.name;
    places.insert(parameter.backward);
  }
  EXPECT_EQ(places.size(), layout.parameters.size());
  EXPECT_EQ(*places.begin(), 0);
  EXPECT_EQ(*places.rbegin(), int(layout.parameters.size()) - 1);
}

TEST_P(FlatModel, BoundAndUnboundNetsGiveEqualLossesAndGradients) {
  Net bound = made(GetParam()), unbound = made(GetParam());
  toy::Memory<float> memory(bound);
  bind(bound, memory.replica());
  Gradients gradients(bound, memory.replica());
  const Batch samples = batch(5);
  const at::Tensor loss = loss_of(bound, samples);
  EXPECT_TRUE(gradients.backward(loss).empty());
  EXPECT_NEAR(loss.item<double>(), loss_of(unbound, samples).item<double>(), 1e-5);
  const auto expected = own_gradients(unbound, samples);
  const auto parameters = bound.body().parameters();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_LT(difference(expected[i], parameters[i].grad()), 1e-4)
        << layout_of(bound).parameters[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FlatModel,
                         testing::Values("resnet18", "resnet50", "resnet20", "mlp"),
                         [](const auto& name) { return name.param; });

TEST(Layout, KnowsWhatAParameterIsToItsLayer) {
  Net net = made("resnet18");
  for (const schedule::Parameter& parameter : layout_of(net).parameters) {
    const bool norm = parameter.name.find("bn") != std::string::npos ||
                      parameter.name.find("downsample.1") != std::string::npos;
    const schedule::Kind expected = norm                          ? schedule::Kind::normalisation
                                    : parameter.name == "fc.bias" ? schedule::Kind::bias
                                                                  : schedule::Kind::matrix;
    EXPECT_EQ(parameter.kind, expected) << parameter.name;
  }
}

TEST(Layout, HasTheNamesOfTorchvision) {
  Net net = made("resnet50");
  const schedule::Layout layout = layout_of(net);
  EXPECT_EQ(layout.parameters[0].name, "conv1.weight");
  EXPECT_EQ(layout.parameters[1].name, "bn1.weight");
  EXPECT_EQ(layout.parameters[3].name, "layer1.0.conv1.weight");
  EXPECT_EQ(layout.parameters[10].name, "layer1.0.downsample.0.weight");
  EXPECT_EQ(layout.parameters.back().name, "fc.bias");
  EXPECT_EQ(layout.buffers[1].name, "bn1.running_var");
}

bool lies_in(const at::Tensor& tensor, const std::vector<float>& memory) {
  const auto* const begin = static_cast<const float*>(tensor.data_ptr());
  return begin >= memory.data() && begin + tensor.numel() <= memory.data() + memory.size();
}

TEST(Replica, StaysInItsMemoryOverManyPasses) {
  for (const std::string name : {"resnet50", "resnet20", "mlp"}) {
    Net net = made(name);
    toy::Memory<float> memory(net);
    bind(net, memory.replica());
    Gradients gradients(net, memory.replica());
    for (int pass = 0; pass < 3; ++pass) {
      std::fill(memory.gradients.begin(), memory.gradients.end(), memory.unset);
      gradients.backward(loss_of(net, batch(4)));
      for (const auto& item : net.body().named_parameters()) {
        EXPECT_TRUE(lies_in(item.value(), memory.weights)) << name << " " << item.key();
        EXPECT_TRUE(lies_in(item.value().grad(), memory.gradients)) << name << " " << item.key();
      }
      const auto untouched = std::ranges::count(memory.gradients, memory.unset);
      EXPECT_EQ(untouched, 0) << name;
    }
    for (const auto& item : net.body().named_buffers()) {
      EXPECT_TRUE(lies_in(item.value(), memory.buffers)) << name << " " << item.key();
    }
  }
}

TEST(Replica, RunningStatisticsMoveInItsMemory) {
  Net net = made("resnet20");
  toy::Memory<float> memory(net);
  bind(net, memory.replica());
  const auto before = memory.buffers;
  net.forward(batch(4).inputs);
  EXPECT_NE(memory.buffers, before);
  const auto after = memory.buffers;
  net.evaluate();
  net.forward(batch(4).inputs);
  EXPECT_EQ(memory.buffers, after);
}

TEST(Replica, TakesOtherValuesAndComesBack) {
  Net net = made("resnet20"), other = toy::make("resnet20", image, 7, narrow("resnet20"));
  initialise(other, 99);
  toy::Memory<float> first(net), second(other);
  bind(net, first.replica());
  bind(other, second.replica());
  net.evaluate();
  other.evaluate();
  const at::Tensor inputs = batch(2).inputs;
  const at::Tensor before = net.forward(inputs);
  bind_to_values(net, {.weights = second.replica().weights, .buffers = second.replica().buffers});
  EXPECT_TRUE(net.forward(inputs).equal(other.forward(inputs)));
  bind_to_values(net, first.replica());
  EXPECT_TRUE(net.forward(inputs).equal(before));
}

/// A replica that is evaluated on other weights in between trains on as if nothing had been.
TEST(Replica, GradientsSurviveAnEvaluationOnOtherWeights) {
  Net net = made("resnet20");
  toy::Memory<float> memory(net), copies(net);
  bind(net, memory.replica());
  Gradients gradients(net, memory.replica());
  gradients.backward(loss_of(net, batch(4)));
  const auto before = memory.gradients;
  copies.weights = memory.weights;
  copies.buffers = memory.buffers;
  bind_to_values(net, {.weights = copies.replica().weights, .buffers = copies.replica().buffers});
  net.evaluate();
  net.forward(batch(4).inputs);
  net.train();
  bind_to_values(net, memory.replica());
  std::fill(memory.gradients.begin(), memory.gradients.end(), memory.unset);
  EXPECT_TRUE(gradients.backward(loss_of(net, batch(4))).empty());
  EXPECT_EQ(memory.gradients, before);
}

TEST(Replica, MemoryOrdersAgree) {
  std::vector<at::Tensor> gradients[2];
  for (const int i : {0, 1}) {
    auto given = narrow("resnet50");
    given["memory_order"] = std::string(i == 0 ? "contiguous" : "channels_last");
    Net net = toy::make("resnet50", image, 7, given);
    toy::Memory<double> memory(net);
    bind(net, memory.replica());
    initialise(net, 4);
    Gradients passes(net, memory.replica());
    passes.backward(loss_of(net, batch(4)));
    for (const at::Tensor& parameter : net.body().parameters()) {
      gradients[i].push_back(parameter.grad().contiguous().clone());
    }
  }
  for (std::size_t i = 0; i < gradients[0].size(); ++i) {
    EXPECT_LT(difference(gradients[0][i], gradients[1][i]), 1e-7) << "parameter " << i;
  }
}

TEST(Replica, ConvolutionsLieInTheNetsMemoryOrder) {
  Net net = made("resnet20");
  toy::Memory<float> memory(net);
  bind(net, memory.replica());
  for (const at::Tensor& parameter : net.body().parameters()) {
    if (parameter.dim() != 4) continue;
    EXPECT_TRUE(parameter.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_EQ(parameter.strides(), parameter.grad().strides());
  }
}

/// Counts its passes in a whole number, as libtorch's own normalisation does.
class Counting final : public Body {
 public:
  Counting() {
    weight_ = register_parameter("weight", torch::ones(3));
    mean_ = register_buffer("mean", torch::zeros(3));
    passes_ = register_buffer("passes", torch::zeros({}, at::kLong));
  }
  at::Tensor forward(at::Tensor x) override {
    passes_.add_(1);
    return x.flatten(1).narrow(1, 0, 3) * weight_;
  }
  at::Tensor passes_;

 private:
  at::Tensor weight_, mean_;
};

TEST(Replica, WholeNumbersStayWithTheNet) {
  auto body = std::make_shared<Counting>();
  Net net(body, image, Order::contiguous);
  EXPECT_EQ(layout_of(net).buffer_count(), 3u);
  toy::Memory<float> memory(net);
  bind(net, memory.replica());
  net.forward(batch(2).inputs);
  EXPECT_EQ(body->passes_.item<std::int64_t>(), 1);
  EXPECT_EQ(memory.buffers, std::vector<float>({0, 0, 0}));
}

}  // namespace
}  // namespace parajoule::nn
