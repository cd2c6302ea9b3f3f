#include "nn/gradients.h"

#include "base/error.h"
#include "nn/body.h"
#include "nn/landing.h"

namespace parajoule::nn {

Gradients::Gradients(Net& net, const Replica& replica) : layout_(layout_of(net)) {
  base::ensure(replica.gradients.count() == layout_.parameter_count(),
               "a replica that is trained has a gradient for each weight");
  const std::vector<at::Tensor> parameters = net.body().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    landings_.push_back(std::make_shared<Landing>(parameters[i], parameters[i].grad(),
                                                  layout_.parameters[i].range));
    torch::autograd::impl::set_grad_accumulator(parameters[i], landings_[i]);
  }
}

Gradients::~Gradients() = default;

std::vector<std::string> Gradients::backward(const at::Tensor& loss, const Ready& ready,
                                             double scale) {
  for (const auto& landing : landings_) landing->expect(&ready, scale);
  if (loss.requires_grad()) loss.backward(at::scalar_tensor(scale, loss.options()));
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < landings_.size(); ++i) {
    if (landings_[i]->landed()) continue;
    missing.push_back(layout_.parameters[i].name);
    landings_[i]->give_up();
  }
  for (const auto& landing : landings_) landing->expect(nullptr, 1);
  return missing;
}

}  // namespace parajoule::nn
