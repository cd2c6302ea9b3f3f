#pragma once

// A model that can be trained: its layers behind a handle that names no torch header.

#include <cstdint>
#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>

namespace parajoule::nn {

class Body;  // nn/body.h: the layers, for sources that know torch

/// The shape of one sample.
struct Input {
  std::int64_t channels = 1;
  std::int64_t height = 1;
  std::int64_t width = 1;
};

/// How images and the weights of convolutions lie in memory: channel by channel, or all channels of
/// one pixel side by side, which the kernels of processors prefer.
enum class Order : std::uint8_t { contiguous, channels_last };

/// A model with its weights. Made by the catalog with all weights zero; `initialise` draws them.
class Net {
 public:
  Net(std::shared_ptr<Body> body, Input input, Order order);

  /// input (B, channels, height, width) in any order -> output (B, classes). Throws Error{input} if
  /// the shape of the samples is not the one the net was made for.
  at::Tensor forward(const at::Tensor& input);
  /// The same; `before` is told the number of each layer, from 0, when its turn comes.
  at::Tensor forward(const at::Tensor& input, const std::function<void(int layer)>& before);

  void train();     ///< normalisation uses the batch's statistics and updates the running ones
  void evaluate();  ///< normalisation uses the running statistics

  const Input& input() const { return input_; }
  Order order() const { return order_; }
  Body& body() { return *body_; }

 private:
  std::shared_ptr<Body> body_;
  Input input_;
  Order order_;
};

}  // namespace parajoule::nn
