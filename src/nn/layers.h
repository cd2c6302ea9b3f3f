#pragma once

// The layers of the models here. Only sources of nn/ that know torch include this.

#include <cstdint>
#include <vector>

#include "nn/body.h"

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
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  at::Tensor forward(const at::Tensor& input) override;

  Options options_;
  at::Tensor weight_;  ///< (out, in, kernel, kernel)
};

/// input (B, in) -> output (B, out)
class Linear final : public Layer {
 public:
  /// What follows the layer decides how far its first weights spread.
  enum class Before : std::uint8_t { relu, loss };
  struct Options {
    std::int64_t in;
    std::int64_t out;
    Before before = Before::loss;
  };
  explicit Linear(const Options& options);
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  at::Tensor forward(const at::Tensor& input) override;

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
  std::vector<Initial> initials() const override;
  std::int64_t multiply_adds(const at::Tensor& output) const override;

 private:
  at::Tensor forward(const at::Tensor& input) override;

  Options options_;
  at::Tensor weight_;  ///< (channels), gamma
  at::Tensor bias_;    ///< (channels), beta
  at::Tensor mean_;    ///< (channels), running mean of batch normalisation
  at::Tensor variance_;
};

}  // namespace parajoule::nn
