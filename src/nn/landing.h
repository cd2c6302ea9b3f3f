#pragma once

// Where the gradient of a parameter ends its way through the backward pass. Only sources of nn/
// that know torch include this.

#include <functional>
#include <memory>

#include <torch/torch.h>

#include "base/vector.h"
#include "schedule/layout.h"

namespace parajoule::nn {

/// Stands in a graph where libtorch would put its own accumulator: writes the gradient into its
/// place in the replica, overwriting what is there, so that no pass over the memory is spent on
/// zeros and sums. A parameter that is used twice is no exception: the engine adds the parts up
/// before they land.
class Landing final : public torch::autograd::Node {
 public:
  using Ready = std::function<void(base::Range)>;

  Landing(const at::Tensor& parameter, at::Tensor place, const schedule::Parameter& layout);

  /// Begins a pass over `scale` times the loss. `ready` must outlive it.
  void begin(const Ready& ready, double scale);
  void end();

  /// No gradient will come: lands zeros.
  void give_up();

  bool landed() const { return landed_; }

  /// The place itself, to write the gradient into, for whoever asks first in a pass; undefined for
  /// all others. It must then be handed on as the gradient.
  at::Tensor claim();

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override;

 private:
  void land(const at::Tensor& gradient);

  at::Tensor place_;
  base::Range range_;
  const Ready* ready_ = nullptr;
  double scale_ = 1;
  bool claimed_ = true;
  bool landed_ = false;
};

/// The landing of a parameter, if it has one and a pass is under way.
std::shared_ptr<Landing> landing_of(const at::Tensor& parameter);

}  // namespace parajoule::nn
