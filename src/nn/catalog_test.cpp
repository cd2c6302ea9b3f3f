#include "nn/catalog.h"

#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <torch/torch.h>

#include "base/error.h"
#include "nn/initialise.h"
#include "nn/replica.h"
#include "nn/toy.h"

namespace parajoule::nn {
namespace {

using testing::HasSubstr;

constexpr Input imagenet = {.channels = 3, .height = 224, .width = 224};
constexpr Input cifar = {.channels = 3, .height = 32, .width = 32};
constexpr Input small = {.channels = 1, .height = 28, .width = 28};

std::size_t parameters(std::string_view name, const Input& input, int classes,
                       const std::map<std::string, base::Value>& given = {}) {
  Net net = toy::make(name, input, classes, given);
  return layout_of(net).parameter_count();
}

// The published counts, of torchvision's models.
TEST(Catalog, ResNetsForImageNetHaveTheirParameters) {
  EXPECT_EQ(parameters("resnet18", imagenet, 1000), 11689512u);
  EXPECT_EQ(parameters("resnet34", imagenet, 1000), 21797672u);
  EXPECT_EQ(parameters("resnet50", imagenet, 1000), 25557032u);
  EXPECT_EQ(parameters("resnet101", imagenet, 1000), 44549160u);
  EXPECT_EQ(parameters("resnet152", imagenet, 1000), 60192808u);
}

/// 3x3 convolutions without bias and two numbers a channel of normalisation, written down from the
/// table in section 4.2 of the paper; `n` blocks a stage, width w, 10 classes, 3 channels.
std::size_t counted(std::size_t n, std::size_t w) {
  const auto stage = [n](std::size_t in, std::size_t out) {
    return 9 * (in * out + (2 * n - 1) * out * out) + 2 * 2 * n * out;
  };
  const std::size_t first = 9 * 3 * w + 2 * w;
  return first + stage(w, w) + stage(w, 2 * w) + stage(2 * w, 4 * w) + 4 * w * 10 + 10;
}

TEST(Catalog, ResNetsForCifarHaveTheirParameters) {
  EXPECT_EQ(parameters("resnet20", cifar, 10), counted(3, 16));
  EXPECT_EQ(counted(3, 16), 269722u);  // "0.27M" in table 6 of the paper
  EXPECT_EQ(parameters("resnet32", cifar, 10), counted(5, 16));
  EXPECT_EQ(parameters("resnet44", cifar, 10), counted(7, 16));
  EXPECT_EQ(parameters("resnet56", cifar, 10), counted(9, 16));
  EXPECT_EQ(parameters("resnet110", cifar, 10), counted(18, 16));
  EXPECT_EQ(parameters("resnet20", cifar, 10, {{"width", std::int64_t{5}}}), counted(3, 5));
}

TEST(Catalog, ProjectionsAddTwoLayersToTheCifarFamily) {
  const std::size_t projections = 16 * 32 + 2 * 32 + 32 * 64 + 2 * 64;
  EXPECT_EQ(parameters("resnet20", cifar, 10, {{"shortcut", std::string("projection")}}),
            counted(3, 16) + projections);
}

TEST(Catalog, MlpHasItsParameters) {
  EXPECT_EQ(parameters("mlp", small, 10),
            784u * 1024 + 1024 + 1024u * 1024 + 1024 + 1024u * 10 + 10);
  EXPECT_EQ(parameters("mlp", small, 3, {{"hidden", std::vector<std::int64_t>{}}}), 784u * 3 + 3);
}

TEST(Catalog, AnUnknownModelIsNamedWithTheNearest) {
  try {
    model("resnet51");
    FAIL() << "an unknown model was found";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("model = resnet51"));
    EXPECT_THAT(error.what(), HasSubstr("'resnet50'"));
  }
}

TEST(Catalog, GroupsThatDoNotDivideTheChannelsAreRefused) {
  try {
    toy::make("resnet18", small, 10, {{"norm", std::string("group")}, {"width", std::int64_t{12}}});
    FAIL() << "32 groups of 12 channels were made";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::usage);
    EXPECT_THAT(error.what(), HasSubstr("groups = 32"));
    EXPECT_THAT(error.what(), HasSubstr("12 channels"));
  }
}

class EveryModel : public testing::TestWithParam<std::string> {};

// 28 x 28 is far below what the ImageNet family was made for.
TEST_P(EveryModel, TrainsOnSmallImages) {
  std::map<std::string, base::Value> given;
  if (GetParam() != "mlp") given = {{"width", std::int64_t{4}}};
  Net net = toy::make(GetParam(), small, 7, given);
  initialise(net, 1);
  const at::Tensor output = net.forward(torch::rand({3, 1, 28, 28}));
  EXPECT_EQ(output.sizes(), at::IntArrayRef({3, 7}));
  EXPECT_TRUE(output.isfinite().all().item<bool>());
  EXPECT_GT(output.std(0).min().item<double>(), 0) << "the output does not depend on the input";
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(toy::names()),
                         [](const auto& name) { return name.param; });

TEST(Net, RefusesSamplesOfAnotherShape) {
  Net net = toy::make("mlp", small, 10);
  try {
    net.forward(torch::zeros({2, 3, 28, 28}));
    FAIL() << "a batch of three channels was taken";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.fault, base::Fault::input);
    EXPECT_THAT(error.what(), HasSubstr("1 x 28 x 28"));
    EXPECT_THAT(error.what(), HasSubstr("[2, 3, 28, 28]"));
  }
}

}  // namespace
}  // namespace parajoule::nn
