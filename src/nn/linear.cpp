#include "nn/linear.h"

#include <memory>
#include <utility>

#include <torch/csrc/autograd/functions/utils.h>

#include "nn/landing.h"
#include "nn/torch_versions.h"

namespace parajoule::nn {

namespace {

using channel_loops::Activation;
using torch::autograd::variable_list;

/// Memory for the gradient of `parameter`: its place in the replica, if nobody has it yet.
at::Tensor place_of(const at::Tensor& parameter) {
  const auto landing = landing_of(parameter);
  const at::Tensor place = landing ? landing->claim() : at::Tensor();
  return place.defined() ? place : at::empty_like(parameter);
}

/// From the gradient of y to those of x, weight and bias.
class LinearBackward final : public torch::autograd::Node {
 public:
  LinearBackward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias)
      : x_(x, false), weight_(weight, false), bias_(bias, false) {}

  void keep(const at::Tensor& y) {
    y_ = torch::autograd::SavedVariable(y, true);
    through_relu_ = true;
  }

  variable_list apply(variable_list&& gradients) override {
    const torch::NoGradGuard no_grad;
    if (!gradients[0].defined()) return variable_list(3);
    at::Tensor g = std::move(gradients[0]);
    if (through_relu_) g = at::threshold_backward(g, y_.unpack(shared_from_this()), 0);
    const at::Tensor weight = weight_.unpack(), bias = bias_.unpack();
    at::Tensor dx, dweight = place_of(weight), dbias = place_of(bias);
    at::sum_out(dbias, g, {0});
    at::mm_out(dweight, g.t(), x_.unpack());
    if (task_should_compute_output(0)) dx = g.mm(weight);
    return {dx, dweight, dbias};
  }

  void release_variables() override {
    for (auto* kept : {&x_, &weight_, &bias_, &y_}) kept->reset_data();
  }

 private:
  torch::autograd::SavedVariable x_, weight_, bias_, y_;
  bool through_relu_ = false;
};

at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   Activation activation) {
  const torch::NoGradGuard no_grad;
  at::Tensor y = at::addmm(bias, x, weight.t());
  if (activation == Activation::relu) y.relu_();
  return y;
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                  Activation activation) {
  if (torch_versions::lowered() || x.scalar_type() != weight.scalar_type()) {
    const at::Tensor y = at::linear(x, weight, bias);
    return activation == Activation::relu ? y.relu() : y;
  }
  at::Tensor y = product(x, weight, bias, activation);
  if (!torch::GradMode::is_enabled()) return y;
  const std::shared_ptr<LinearBackward> node(new LinearBackward(x, weight, bias),
                                             torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(x, weight, bias));
  torch::autograd::set_history(y, node);
  if (activation == Activation::relu) node->keep(y);
  return y;
}

}  // namespace parajoule::nn
