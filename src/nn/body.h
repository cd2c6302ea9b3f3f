#pragma once

// What models are made of. Only sources of nn/ that know torch include this.

#include <cstdint>
#include <functional>
#include <vector>

#include <torch/torch.h>

namespace parajoule::nn {

/// From what the first values of a parameter are drawn: normal around `mean`. A deviation of 0
/// gives the mean itself.
struct Initial {
  double mean = 0;
  double deviation = 0;
};

/// A module that has parameters of its own and no modules below it.
class Layer : public torch::nn::Module {
 public:
  using Watch = std::function<void(Layer&, const at::Tensor& input, const at::Tensor& output)>;

  /// For each own parameter, in the order in which they were registered.
  virtual std::vector<Initial> initials() const = 0;

  /// Products that are added up in one forward pass of one sample.
  virtual std::int64_t multiply_adds(const at::Tensor& output) const = 0;

  /// Called after each forward pass; an empty one ends it.
  void watch(Watch watch) { watch_ = std::move(watch); }

 protected:
  /// What a forward pass ends with.
  at::Tensor shown(const at::Tensor& input, at::Tensor output) {
    if (watch_) watch_(*this, input, output);
    return output;
  }

 private:
  Watch watch_;
};

/// All layers of a model. Modules are registered in the order in which the forward pass needs them,
/// so that the backward pass finishes their gradients in the reverse order.
class Body : public torch::nn::Module {
 public:
  virtual at::Tensor forward(at::Tensor input) = 0;
};

}  // namespace parajoule::nn
