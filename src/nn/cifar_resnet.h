#pragma once

// Residual networks for small images.

#include <cstdint>

#include "nn/blocks.h"
#include "nn/net.h"

namespace parajoule::nn {

/// ResNet 20/32/44/56/110 of the CIFAR-10 experiments (He et al. 2015, arXiv:1512.03385, section
/// 4.2): a 3x3 convolution, three stages of basic blocks with width, 2 width and 4 width channels,
/// 6 blocks + 2 layers deep.
struct CifarResNet {
  int blocks = 3;  ///< of each stage
  std::int64_t width = 16;
  Shortcut shortcut = Shortcut::identity;  ///< the paper's
  Norm::Options norm = {};          ///< kind and groups; `channels` and `gamma` are not looked at
  double last_gamma = 1;            ///< first scale of the last normalisation of each block
  double classifier_deviation = 0;  ///< of the last layer's weights at the start; 0: He's
  Order order = Order::channels_last;
};

/// Throws Error{usage} if the groups do not divide the channels.
Net make_cifar_resnet(const CifarResNet& resnet, const Input& input, int classes);

}  // namespace parajoule::nn
