#pragma once

// Residual networks for images of ImageNet's size.

#include <array>
#include <cstdint>

#include "nn/layers.h"
#include "nn/net.h"

namespace parajoule::nn {

/// ResNet 18/34/50/101/152 (He et al. 2015, arXiv:1512.03385) in the form known as v1.5: where a
/// bottleneck block halves the image, the 3x3 convolution has the stride.
struct ResNet {
  enum class Block : std::uint8_t { basic, bottleneck };
  /// imagenet: 7x7 with stride 2 and a pooling with stride 2; cifar: 3x3 with stride 1.
  enum class Stem : std::uint8_t { imagenet, cifar };

  Block block = Block::bottleneck;
  std::array<int, 4> blocks = {3, 4, 6, 3};  ///< of each stage
  std::int64_t width = 64;                   ///< channels of the first stage within its blocks
  Stem stem = Stem::imagenet;
  Norm::Options norm = {};          ///< kind and groups; `channels` and `gamma` are not looked at
  double last_gamma = 1;            ///< first scale of the last normalisation of each block
  double classifier_deviation = 0;  ///< of the last layer's weights at the start; 0: He's
  Order order = Order::channels_last;
};

/// Throws Error{usage} if the groups do not divide the channels.
Net make_resnet(const ResNet& resnet, const Input& input, int classes);

}  // namespace parajoule::nn
