#include "nn/replica.h"

#include "base/error.h"
#include "nn/body.h"
#include "nn/view.h"

namespace parajoule::nn {

namespace {

using schedule::Kind;

enum class Values : std::uint8_t { move, take };

/// A one-dimensional scale belongs to a normalisation, and so does the shift beside it.
Kind kind_of(const torch::nn::Module& module, const at::Tensor& parameter) {
  if (parameter.dim() > 1) return Kind::matrix;
  const auto parameters = module.named_parameters(false);
  const at::Tensor* const weight = parameters.find("weight");
  return weight != nullptr && weight->dim() == 1 ? Kind::normalisation : Kind::bias;
}

std::string joined(const std::string& module, const std::string& name) {
  return module.empty() ? name : module + "." + name;
}

base::Range next(std::size_t& end, const at::Tensor& tensor) {
  const std::size_t begin = end;
  end += std::size_t(tensor.numel());
  return {begin, end};
}

void attach(at::Tensor& tensor, const at::Tensor& place, Values values) {
  const torch::NoGradGuard no_grad;
  if (values == Values::move) place.copy_(tensor);
  tensor.set_data(place);
}

void attach(Net& net, const Replica& replica, Values values) {
  const schedule::Layout layout = layout_of(net);
  base::ensure(replica.weights.count() == layout.parameter_count() &&
                   replica.buffers.count() == layout.buffer_count(),
               "a replica has the size of its net");
  auto parameter = layout.parameters.begin();
  for (at::Tensor& tensor : net.body().parameters()) {
    const auto& [name, shape, range, kind, backward] = *parameter++;
    attach(tensor, view(replica.weights[range], shape, net.order()), values);
    tensor.mutable_grad() = replica.gradients.empty()
                                ? at::Tensor()
                                : view(replica.gradients[range], shape, net.order());
  }
  auto buffer = layout.buffers.begin();
  for (at::Tensor& tensor : net.body().buffers()) {
    if (!tensor.is_floating_point()) continue;
    attach(tensor, view(replica.buffers[buffer->range], buffer->shape), values);
    ++buffer;
  }
}

}  // namespace

schedule::Layout layout_of(Net& net) {
  schedule::Layout layout;
  std::size_t weights = 0, buffers = 0;
  for (const auto& module : net.body().named_modules()) {
    for (const auto& item : module.value()->named_parameters(false)) {
      const at::Tensor& tensor = item.value();
      layout.parameters.push_back({.name = joined(module.key(), item.key()),
                                   .shape = tensor.sizes().vec(),
                                   .range = next(weights, tensor),
                                   .kind = kind_of(*module.value(), tensor)});
    }
    for (const auto& item : module.value()->named_buffers(false)) {
      const at::Tensor& tensor = item.value();
      if (!tensor.is_floating_point()) continue;
      layout.buffers.push_back({.name = joined(module.key(), item.key()),
                                .shape = tensor.sizes().vec(),
                                .range = next(buffers, tensor)});
    }
  }
  int place = int(layout.parameters.size());
  for (schedule::Parameter& parameter : layout.parameters) parameter.backward = --place;
  return layout;
}

void bind(Net& net, const Replica& replica) { attach(net, replica, Values::move); }
void bind_to_values(Net& net, const Replica& replica) { attach(net, replica, Values::take); }

}  // namespace parajoule::nn
