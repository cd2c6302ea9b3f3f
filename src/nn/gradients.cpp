#include "nn/gradients.h"

#include "base/error.h"
#include "nn/body.h"
#include "nn/landing.h"

namespace parajoule::nn {

namespace {

using Landings = std::vector<std::shared_ptr<Landing>>;

/// While it lives, gradients may land.
class Pass {
 public:
  Pass(const Landings& landings, const Landing::Ready& ready, double scale) : landings_(landings) {
    for (const auto& landing : landings_) landing->begin(ready, scale);
  }
  ~Pass() {
    for (const auto& landing : landings_) landing->end();
  }
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

 private:
  const Landings& landings_;
};

}  // namespace

Gradients::Gradients(Net& net, const Replica& replica) : layout_(layout_of(net)) {
  base::ensure(replica.gradients.count() == layout_.parameter_count(),
               "a replica that is trained has a gradient for each weight");
  const std::vector<at::Tensor> parameters = net.body().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    landings_.push_back(
        std::make_shared<Landing>(parameters[i], parameters[i].grad(), layout_.parameters[i]));
    torch::autograd::impl::set_grad_accumulator(parameters[i], landings_[i]);
  }
}

Gradients::~Gradients() = default;

std::vector<std::string> Gradients::backward(const at::Tensor& loss, const Ready& ready,
                                             double scale) {
  const Pass pass(landings_, ready, scale);
  if (loss.requires_grad()) loss.backward(at::scalar_tensor(scale, loss.options()));
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < landings_.size(); ++i) {
    if (landings_[i]->landed()) continue;
    missing.push_back(layout_.parameters[i].name);
    landings_[i]->give_up();
  }
  return missing;
}

}  // namespace parajoule::nn
