#include "nn/catalog.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "nn/cifar_resnet.h"
#include "nn/mlp.h"
#include "nn/resnet.h"

namespace parajoule::nn {

namespace {

using base::Option;
using Kind = base::Option::Kind;

/// Of channels and outputs: beyond it no machine could hold the weights.
constexpr double most_wide = 1e6;

std::vector<Option> residual_options(std::string_view width, std::string_view groups) {
  return {
      {"width", Kind::whole, width, "channels of the first stage", {}, 1, most_wide},
      {"norm", Kind::word, "batch", "normalisation", {"batch", "group"}},
      {"groups", Kind::whole, groups, "groups of channels, for norm = group", {}, 1, most_wide},
      {"zero_gamma", Kind::flag, "false", "each block's last normalisation starts with scale 0"},
      {"classifier_deviation",
       Kind::number,
       "0",
       "standard deviation of the last layer's weights at the start; 0: as He et al. have it",
       {},
       0},
      {"memory_order",
       Kind::word,
       "channels_last",
       "images in memory",
       {"channels_last", "contiguous"}},
  };
}

std::vector<Option> resnet_options() {
  std::vector<Option> options = residual_options("64", "32");
  options.push_back({"stem",
                     Kind::word,
                     "imagenet",
                     "first layer: 7x7 and pooling, a quarter of the size; or 3x3, the full size",
                     {"imagenet", "cifar"}});
  return options;
}

std::vector<Option> cifar_options() {
  std::vector<Option> options = residual_options("16", "8");
  options.push_back({"shortcut",
                     Kind::word,
                     "identity",
                     "where a block changes the shape: option A or B of the paper",
                     {"identity", "projection"}});
  return options;
}

Norm::Options norm(const base::Settings& settings) {
  const bool batch = settings.word("norm") == "batch";
  return {.kind = batch ? Norm::Kind::batch : Norm::Kind::group,
          .groups = settings.whole("groups")};
}

Order order(const base::Settings& settings) {
  return settings.word("memory_order") == "contiguous" ? Order::contiguous : Order::channels_last;
}

template <ResNet::Block block, int a, int b, int c, int d>
Net resnet(const base::Settings& settings, const Input& input, int classes) {
  const bool cifar = settings.word("stem") == "cifar";
  return make_resnet({.block = block,
                      .blocks = {a, b, c, d},
                      .width = settings.whole("width"),
                      .stem = cifar ? ResNet::Stem::cifar : ResNet::Stem::imagenet,
                      .norm = norm(settings),
                      .last_gamma = settings.flag("zero_gamma") ? 0.0 : 1.0,
                      .classifier_deviation = settings.number("classifier_deviation"),
                      .order = order(settings)},
                     input, classes);
}

template <int blocks>
Net cifar_resnet(const base::Settings& settings, const Input& input, int classes) {
  const bool projection = settings.word("shortcut") == "projection";
  return make_cifar_resnet({.blocks = blocks,
                            .width = settings.whole("width"),
                            .shortcut = projection ? Shortcut::projection : Shortcut::identity,
                            .norm = norm(settings),
                            .last_gamma = settings.flag("zero_gamma") ? 0.0 : 1.0,
                            .classifier_deviation = settings.number("classifier_deviation"),
                            .order = order(settings)},
                           input, classes);
}

Net mlp(const base::Settings& settings, const Input& input, int classes) {
  return make_mlp(settings.wholes("hidden"), input, classes);
}

constexpr Usual imagenet = {.input = {.channels = 3, .height = 224, .width = 224}, .classes = 1000};
constexpr Usual cifar = {.input = {.channels = 3, .height = 32, .width = 32}, .classes = 10};
constexpr Usual mnist = {.input = {.channels = 1, .height = 28, .width = 28}, .classes = 10};

const std::vector<Model>& table() {
  using enum ResNet::Block;
  constexpr std::string_view paper = "arXiv:1512.03385";
  static const std::vector<Model> models = {
      {"resnet18", "18 layers for images of ImageNet's size, basic blocks", paper, imagenet,
       resnet_options(), resnet<basic, 2, 2, 2, 2>},
      {"resnet34", "34 layers for images of ImageNet's size, basic blocks", paper, imagenet,
       resnet_options(), resnet<basic, 3, 4, 6, 3>},
      {"resnet50", "50 layers for images of ImageNet's size, bottleneck blocks (v1.5)", paper,
       imagenet, resnet_options(), resnet<bottleneck, 3, 4, 6, 3>},
      {"resnet101", "101 layers for images of ImageNet's size, bottleneck blocks (v1.5)", paper,
       imagenet, resnet_options(), resnet<bottleneck, 3, 4, 23, 3>},
      {"resnet152", "152 layers for images of ImageNet's size, bottleneck blocks (v1.5)", paper,
       imagenet, resnet_options(), resnet<bottleneck, 3, 8, 36, 3>},
      {"resnet20", "20 layers for small images", paper, cifar, cifar_options(), cifar_resnet<3>},
      {"resnet32", "32 layers for small images", paper, cifar, cifar_options(), cifar_resnet<5>},
      {"resnet44", "44 layers for small images", paper, cifar, cifar_options(), cifar_resnet<7>},
      {"resnet56", "56 layers for small images", paper, cifar, cifar_options(), cifar_resnet<9>},
      {"resnet110", "110 layers for small images", paper, cifar, cifar_options(), cifar_resnet<18>},
      {"mlp",
       "fully connected layers with ReLU between them",
       "",
       mnist,
       {{"hidden", Kind::wholes, "[1024, 1024]", "outputs of each hidden layer", {}, 1, most_wide}},
       mlp},
  };
  return models;
}

}  // namespace

std::span<const Model> models() { return table(); }

const Model& model(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Model::name);
  if (found != table().end()) return *found;
  std::vector<std::string_view> names;
  for (const Model& known : table()) names.push_back(known.name);
  throw base::Error(base::Fault::usage,
                    fmt::format("model = {} is not known{}", name, base::hint(name, names)));
}

}  // namespace parajoule::nn
