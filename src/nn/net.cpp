#include "nn/net.h"

#include <fmt/format.h>

#include "base/error.h"
#include "nn/body.h"

namespace parajoule::nn {
namespace {

/// Tells when the turn of each layer comes, in one forward pass.
class Turns {
 public:
  Turns(Body& body, const std::function<void(int)>& before) {
    for (const auto& module : body.modules(/*include_self=*/false))
      if (auto* layer = dynamic_cast<Layer*>(module.get())) layers_.push_back(layer);
    for (Layer* layer : layers_)
      layer->watch([this, &before](Layer&, const at::Tensor&, const at::Tensor&) {
        if (++next_ < int(layers_.size())) before(next_);
      });
    before(0);
  }
  Turns(const Turns&) = delete;
  ~Turns() {
    for (Layer* layer : layers_) layer->watch({});
  }

 private:
  std::vector<Layer*> layers_;
  int next_ = 0;
};

}  // namespace

Net::Net(std::shared_ptr<Body> body, Input input, Order order)
    : body_(std::move(body)), input_(input), order_(order) {}

at::Tensor Net::forward(const at::Tensor& input) {
  const bool fits = input.dim() == 4 && input.size(1) == input_.channels &&
                    input.size(2) == input_.height && input.size(3) == input_.width;
  if (!fits) {
    throw base::Error(
        base::Fault::input,
        fmt::format("the model was made for samples of {} x {} x {}, got a batch of "
                    "shape [{}]; make it for the data's shape",
                    input_.channels, input_.height, input_.width, fmt::join(input.sizes(), ", ")));
  }
  const bool channels_last = order_ == Order::channels_last;
  return body_->forward(input.to(body_->parameters().front().scalar_type())
                            .contiguous(channels_last ? at::MemoryFormat::ChannelsLast
                                                      : at::MemoryFormat::Contiguous));
}

at::Tensor Net::forward(const at::Tensor& input, const std::function<void(int)>& before) {
  const Turns turns(*body_, before);
  return forward(input);
}

void Net::train() { body_->train(); }
void Net::evaluate() { body_->eval(); }

}  // namespace parajoule::nn
