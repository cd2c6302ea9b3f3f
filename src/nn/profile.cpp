#include "nn/profile.h"

#include "nn/body.h"

namespace parajoule::nn {

namespace {

schedule::LayerProfile profile(Layer& layer, const at::Tensor& input, const at::Tensor& output) {
  schedule::LayerProfile profile;
  for (const at::Tensor& parameter : layer.parameters(false)) {
    profile.parameters += parameter.numel();
  }
  profile.shape = output.sizes().slice(1).vec();
  profile.forward_flops = 2 * layer.multiply_adds(output);
  profile.backward_flops = (input.requires_grad() ? 2 : 1) * profile.forward_flops;
  profile.activation_bytes = output.numel() / output.size(0) * std::int64_t(output.element_size());
  return profile;
}

}  // namespace

schedule::Profile profile_of(Net& net) {
  schedule::Profile result;
  const auto modules = net.body().named_modules();
  for (const auto& module : modules) {
    auto* const layer = dynamic_cast<Layer*>(module.value().get());
    if (layer == nullptr) continue;
    layer->watch(
        [&, name = module.key()](Layer& seen, const at::Tensor& in, const at::Tensor& out) {
          result.layers.push_back(profile(seen, in, out));
          result.layers.back().name = name;
        });
  }
  net.evaluate();
  const Input& input = net.input();
  net.forward(torch::zeros({1, input.channels, input.height, input.width}));
  net.train();
  for (const auto& module : modules) {
    if (auto* layer = dynamic_cast<Layer*>(module.value().get())) layer->watch({});
  }
  return result;
}

schedule::Profile describe(const Model& model) {
  const base::Settings settings(model.name, model.options, {});
  Net net = model.make(settings, model.usual.input, model.usual.classes);
  return profile_of(net);
}

}  // namespace parajoule::nn
