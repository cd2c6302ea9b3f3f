#include "nn/initialise.h"

#include "base/error.h"
#include "base/seed.h"
#include "nn/body.h"

namespace parajoule::nn {

namespace {

void draw(at::Tensor& parameter, const Initial& initial, base::Stream stream) {
  at::Tensor values = torch::full(parameter.sizes(), initial.mean, at::kDouble);
  if (initial.deviation != 0) {
    double* const value = values.data_ptr<double>();
    for (std::int64_t i = 0; i < values.numel(); ++i) {
      value[i] += initial.deviation * stream.normal();
    }
  }
  parameter.copy_(values);
}

void reset_statistics(Layer& layer) {
  for (auto& buffer : layer.named_buffers(false)) {
    buffer.value().fill_(buffer.key() == "running_var" ? 1 : 0);
  }
}

}  // namespace

void initialise(Net& net, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t number = 0;
  for (const auto& module : net.body().modules(false)) {
    auto* const layer = dynamic_cast<Layer*>(module.get());
    if (layer == nullptr) continue;
    const std::vector<Initial> initials = layer->initials();
    auto parameters = layer->parameters(false);
    base::ensure(initials.size() == parameters.size(), "a layer says how its parameters begin");
    for (std::size_t i = 0; i < initials.size(); ++i) {
      draw(parameters[i], initials[i], base::stream(seed, base::Purpose::weights, number++));
    }
    reset_statistics(*layer);
  }
}

}  // namespace parajoule::nn
