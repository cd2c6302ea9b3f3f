#include "nn/gradients.h"

#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>

#include "base/error.h"
#include "nn/body.h"
#include "nn/initialise.h"
#include "nn/task.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

using testing::ElementsAre;

constexpr Input image = {.channels = 3, .height = 8, .width = 8};

struct Trained {
  explicit Trained(Net made) : net(std::move(made)), memory(net), replica(memory.replica()) {
    bind(net, replica);
  }
  Net net;
  toy::Memory<double> memory;
  Replica replica;
};

at::Tensor loss_of(Net& net) {
  torch::manual_seed(8);
  const at::Tensor inputs = torch::randn({16, 3, 8, 8});
  const at::Tensor targets = torch::arange(16).remainder(7);
  return classification(7)->loss(net.forward(inputs), targets);
}

class EveryKind : public testing::TestWithParam<std::string> {
 protected:
  static Net made() {
    std::map<std::string, base::Value> given = {{"width", std::int64_t{4}}};
    if (GetParam() == "mlp") given = {{"hidden", std::vector<std::int64_t>{9, 6}}};
    // Few values to normalise over make the loss bend sharply.
    if (GetParam() == "resnet50") given.insert({"stem", std::string("cifar")});
    if (GetParam() == "resnet18") {
      given.insert({{"norm", std::string("group")}, {"groups", std::int64_t{2}}});
    }
    return toy::make(GetParam(), image, 7, given);
  }
};

/// Central differences of the loss in double precision, for a few elements of each parameter.
TEST_P(EveryKind, GradientsAreThoseOfFiniteDifferences) {
  Trained trained(made());
  initialise(trained.net, 2);
  Gradients gradients(trained.net, trained.replica);
  gradients.backward(loss_of(trained.net));
  constexpr double step = 1e-6;
  for (const schedule::Parameter& parameter : layout_of(trained.net).parameters) {
    for (const std::size_t i : {parameter.range.begin, parameter.range.end - 1}) {
      double& weight = trained.memory.weights[i];
      const double middle = weight;
      weight = middle + step;
      const double above = loss_of(trained.net).item<double>();
      weight = middle - step;
      const double below = loss_of(trained.net).item<double>();
      weight = middle;
      const double expected = (above - below) / (2 * step);
      EXPECT_NEAR(trained.memory.gradients[i], expected, 2e-7 + 1e-5 * std::abs(expected))
          << parameter.name << " element " << i;
    }
  }
}

TEST_P(EveryKind, EachRangeIsToldOnceFromTheEndToTheBeginning) {
  Trained trained(made());
  initialise(trained.net, 2);
  Gradients gradients(trained.net, trained.replica);
  const schedule::Layout layout = layout_of(trained.net);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<base::Range> told;
    std::vector<double> when_told;
    gradients.backward(loss_of(trained.net), [&](base::Range range) {
      told.push_back(range);
      when_told.push_back(trained.memory.gradients[range.begin]);
    });
    ASSERT_EQ(told.size(), layout.parameters.size());
    for (const schedule::Parameter& parameter : layout.parameters) {
      const std::size_t place = std::size_t(parameter.backward);
      EXPECT_EQ(told[place], parameter.range) << parameter.name;
      EXPECT_EQ(when_told[place], trained.memory.gradients[parameter.range.begin])
          << parameter.name << " was told before it was final";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryKind,
                         testing::Values("resnet18", "resnet50", "resnet20", "mlp"),
                         [](const auto& name) { return name.param; });

TEST(Gradients, AreOverwrittenNotAddedUp) {
  Trained trained(toy::make("mlp", image, 7));
  initialise(trained.net, 2);
  Gradients gradients(trained.net, trained.replica);
  gradients.backward(loss_of(trained.net));
  const auto first = trained.memory.gradients;
  gradients.backward(loss_of(trained.net));
  EXPECT_EQ(trained.memory.gradients, first);
}

/// y = (a x) (a x) b, with c beside it that has no part in it: one weight is used twice, one never.
class Odd final : public Body {
 public:
  Odd() {
    a_ = register_parameter("a", torch::full({1}, 3.0));
    b_ = register_parameter("b", torch::full({1}, 5.0));
    c_ = register_parameter("c", torch::full({2}, 7.0));
  }
  at::Tensor forward(at::Tensor x) override { return (a_ * x) * (a_ * x) * b_; }

 private:
  at::Tensor a_, b_, c_;
};

Trained odd() { return Trained(Net(std::make_shared<Odd>(), {1, 1, 1}, Order::contiguous)); }

TEST(Gradients, OfAWeightUsedTwiceAreTheSumOfBothUses) {
  Trained trained = odd();
  Gradients gradients(trained.net, trained.replica);
  gradients.backward(trained.net.forward(torch::full({1, 1, 1, 1}, 2.0)).sum());
  EXPECT_DOUBLE_EQ(trained.memory.gradients[0], 2 * 3 * 5 * 4);  // 2 a b x^2
  EXPECT_DOUBLE_EQ(trained.memory.gradients[1], 36);             // a^2 x^2
}

TEST(Gradients, OfAWeightWithoutPartInTheLossAreZeroAndNamed) {
  Trained trained = odd();
  Gradients gradients(trained.net, trained.replica);
  std::vector<base::Range> told;
  const auto tell = [&](base::Range range) { told.push_back(range); };
  const at::Tensor input = torch::full({1, 1, 1, 1}, 2.0);
  EXPECT_THAT(gradients.backward(trained.net.forward(input).sum(), tell), ElementsAre("c"));
  EXPECT_THAT(
      told, testing::UnorderedElementsAre(base::Range{0, 1}, base::Range{1, 2}, base::Range{2, 4}));
  EXPECT_EQ(told.back(), (base::Range{2, 4}));
  EXPECT_EQ(trained.memory.gradients[2], 0);
  EXPECT_EQ(trained.memory.gradients[3], 0);
}

TEST(Gradients, OfALossWithoutAnyWeightAreAllZeroAndNamed) {
  Trained trained = odd();
  Gradients gradients(trained.net, trained.replica);
  EXPECT_THAT(gradients.backward(torch::zeros({})), ElementsAre("a", "b", "c"));
  EXPECT_EQ(trained.memory.gradients, std::vector<double>(4, 0.0));
}

TEST(Gradients, AreThoseOfTheLossWhateverTheScale) {
  Trained trained(toy::make("mlp", image, 7));
  initialise(trained.net, 2);
  Gradients gradients(trained.net, trained.replica);
  gradients.backward(loss_of(trained.net));
  const auto expected = trained.memory.gradients;
  gradients.backward(loss_of(trained.net), {}, 1024);
  EXPECT_EQ(trained.memory.gradients, expected);  // a power of two only moves the exponent
}

TEST(Gradients, AFailureWithinThePassComesOutAsItIs) {
  Trained trained(toy::make("mlp", image, 7));
  initialise(trained.net, 2);
  Gradients gradients(trained.net, trained.replica);
  const auto fail = [](base::Range) { throw base::Error(base::Fault::peer, "rank 3 died"); };
  try {
    gradients.backward(loss_of(trained.net), fail);
    FAIL() << "the failure was lost";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::peer);
    EXPECT_STREQ(error.what(), "rank 3 died");
  }
  EXPECT_TRUE(gradients.backward(loss_of(trained.net)).empty());  // and the next pass works
}

TEST(Gradients, WithoutThemLibtorchAddsUpAgain) {
  Trained trained(toy::make("mlp", image, 7));
  initialise(trained.net, 2);
  { const Gradients gradients(trained.net, trained.replica); }
  std::fill(trained.memory.gradients.begin(), trained.memory.gradients.end(), 0.0);
  loss_of(trained.net).backward();
  const auto first = trained.memory.gradients;
  loss_of(trained.net).backward();
  EXPECT_DOUBLE_EQ(trained.memory.gradients.back(), 2 * first.back());
  EXPECT_NE(first.back(), 0);
}

}  // namespace
}  // namespace parajoule::nn
