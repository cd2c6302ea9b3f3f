#pragma once

// The blocks of residual networks. Only sources of nn/ that know torch include this.

#include <cstdint>
#include <memory>

#include "nn/layers.h"

namespace parajoule::nn {

/// Part of a residual network: x -> relu(f(x) + shortcut(x)).
class Residual : public torch::nn::Module {
 public:
  virtual at::Tensor forward(const at::Tensor& input) = 0;
};

/// What a shortcut does where the input's shape is not the output's (He et al. 2015, section 3.3).
enum class Shortcut : std::uint8_t {
  identity,    ///< option A: takes every stride-th pixel and adds channels of zeros
  projection,  ///< option B: a 1x1 convolution with normalisation
};

struct ResidualOptions {
  std::int64_t in;
  std::int64_t width;  ///< channels within the block
  std::int64_t stride = 1;
  Norm::Options norm = {};  ///< kind and groups
  double last_gamma = 1;    ///< first scale of the last normalisation
  Shortcut shortcut = Shortcut::projection;
};

/// Two 3x3 convolutions: in -> width -> width.
std::shared_ptr<Residual> basic_block(const ResidualOptions& options);

/// 1x1, 3x3, 1x1 convolutions: in -> width -> width -> 4 width.
std::shared_ptr<Residual> bottleneck_block(const ResidualOptions& options);

/// Throws Error{usage} if group normalisation cannot cut `channels` into `norm.groups`.
void check_groups(const Norm::Options& norm, std::int64_t channels);

/// `norm` for so many channels with a first scale of `gamma`.
inline Norm::Options norm_of(Norm::Options norm, std::int64_t channels, double gamma = 1) {
  norm.channels = channels;
  norm.gamma = gamma;
  return norm;
}

}  // namespace parajoule::nn
