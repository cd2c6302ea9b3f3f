#pragma once

// The layers of the models here. Only sources of nn/ that know torch include this.

#include <cstdint>
#include <vector>

#include "nn/batch_norm.h"
#include "nn/body.h"
#include "nn/channel_loops.h"

namespace parajoule::nn {

/// Convolution of a square kernel without bias, padded so that stride 1 keeps the image's size.
///   input (B, in, H, W) -> output (B, out, H / stride, W / stride)
class Convolution final : public Layer {
 public:
  struct Options {
    std::int64_t in;
    std::int64_t out;
    std::int64_t kernel = 3;  ///< odd
    std::int64_t stride = 1;
  };
  explicit Convolution(const Options& options);
  at::Tensor forward(const at::Tensor& input);
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  Options options_;
  at::Tensor weight_;  ///< (out, in, kernel, kernel)
};

/// Applied to the output of a layer at once.
using channel_loops::Activation;

/// input (B, in) -> output (B, out), with the ReLU that may follow.
class Linear final : public Layer {
 public:
  struct Options {
    std::int64_t in;
    std::int64_t out;
    Activation activation = Activation::none;
    double deviation = 0;  ///< of the weights at the start; 0: as He et al. have it
  };
  explicit Linear(const Options& options);
  at::Tensor forward(const at::Tensor& input);
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  Options options_;
  at::Tensor weight_;  ///< (out, in)
  at::Tensor bias_;    ///< (out)
};

/// Normalisation of each channel over the batch (Ioffe and Szegedy 2015, arXiv:1502.03167) or of
/// each sample over groups of channels (Wu and He 2018, arXiv:1803.08494).
class Norm final : public Layer {
 public:
  enum class Kind : std::uint8_t { batch, group };
  struct Options {
    Kind kind = Kind::batch;
    std::int64_t channels = 0;
    std::int64_t groups = 32;  ///< of group normalisation; divides the channels
    double gamma = 1;          ///< first value of the scale
  };
  explicit Norm(const Options& options);
  /// input (B, C, H, W) -> normalised input (+ residual), then ReLU. `residual` may be undefined.
  at::Tensor forward(const at::Tensor& input, Activation activation = Activation::none,
                     const at::Tensor& residual = {});
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  bool fused(const at::Tensor& input, const at::Tensor& residual) const;
  at::Tensor separate(const at::Tensor& input) const;

  Options options_;
  BatchNorm values_;  ///< the running statistics are undefined in group normalisation
};

}  // namespace parajoule::nn
