#pragma once

// The backward pass of a net that is bound to a replica.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "base/vector.h"
#include "nn/net.h"
#include "nn/replica.h"
#include "schedule/layout.h"

namespace parajoule::nn {

class Landing;  // nn/landing.h

/// Runs backward passes and tells when each gradient is final. One per net; made after `bind` and
/// before the forward pass, and made anew when the net is bound to another replica's gradients.
class Gradients {
 public:
  /// Told, on the calling thread, that the gradients of a range are final for this pass: once for
  /// each parameter, with the range of the layout.
  using Ready = std::function<void(base::Range)>;

  Gradients(Net& net, const Replica& replica);
  ~Gradients();
  Gradients(const Gradients&) = delete;
  Gradients& operator=(const Gradients&) = delete;

  /// Overwrites the gradients of the replica with those of `loss`, one number. Returns the names of
  /// the parameters that `loss` does not depend on, in the order of the layout; their gradients are
  /// zero and are told last. The pass itself runs on `scale` times the loss (see nn/loss_scale.h);
  /// what lands in the replica is divided by it.
  std::vector<std::string> backward(const at::Tensor& loss, const Ready& ready = {},
                                    double scale = 1);

 private:
  schedule::Layout layout_;
  std::vector<std::shared_ptr<Landing>> landings_;  ///< one a parameter, in the layout's order
};

}  // namespace parajoule::nn
