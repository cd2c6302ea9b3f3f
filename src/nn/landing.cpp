#include "nn/landing.h"

#include <cstdint>

namespace parajoule::nn {

// The number places it before all other nodes that are ready, as libtorch's own accumulators are,
// and among those of one layer in the order of the layout.
Landing::Landing(const at::Tensor& parameter, at::Tensor place, const schedule::Parameter& layout)
    : Node(UINT64_MAX - std::uint64_t(layout.backward)),
      place_(std::move(place)),
      range_(layout.range) {
  add_input_metadata(parameter);
}

void Landing::begin(const Ready& ready, double scale) {
  ready_ = &ready;
  scale_ = scale;
  claimed_ = false;
  landed_ = false;
}

void Landing::end() {
  ready_ = nullptr;
  claimed_ = true;
}

void Landing::give_up() { land(at::zeros({}, place_.options())); }

at::Tensor Landing::claim() {
  if (claimed_) return {};
  claimed_ = true;
  return place_;
}

torch::autograd::variable_list Landing::apply(torch::autograd::variable_list&& gradients) {
  if (gradients[0].defined()) land(gradients[0]);
  return {};
}

void Landing::land(const at::Tensor& gradient) {
  const torch::NoGradGuard no_grad;
  if (gradient.data_ptr() != place_.data_ptr()) place_.copy_(gradient);
  if (scale_ != 1) place_.mul_(1 / scale_);
  landed_ = true;
  if (ready_ != nullptr && *ready_) (*ready_)(range_);
}

std::shared_ptr<Landing> landing_of(const at::Tensor& parameter) {
  return std::dynamic_pointer_cast<Landing>(
      torch::autograd::impl::try_get_grad_accumulator(parameter));
}

}  // namespace parajoule::nn
