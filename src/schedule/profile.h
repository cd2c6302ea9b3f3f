#pragma once

// What the layers of a model cost: plain values, for rehearsals and for cutting a model in stages.

#include <cstdint>
#include <string>
#include <vector>

namespace parajoule::schedule {

/// One layer, per sample. Multiplying and adding one product counts as two operations; the
/// operations of normalisation, ReLU and pooling do not count, as in published figures.
struct LayerProfile {
  std::string name;
  std::int64_t parameters = 0;
  std::vector<std::int64_t> shape;  ///< of the output, without the batch
  std::int64_t forward_flops = 0;
  std::int64_t backward_flops = 0;    ///< twice the forward ones; once where no input needs them
  std::int64_t activation_bytes = 0;  ///< of the output, which the backward pass needs
};

/// The layers in the order of the forward pass.
struct Profile {
  std::vector<LayerProfile> layers;
  LayerProfile total() const {
    LayerProfile sum;
    for (const LayerProfile& layer : layers) {
      sum.parameters += layer.parameters;
      sum.forward_flops += layer.forward_flops;
      sum.backward_flops += layer.backward_flops;
      sum.activation_bytes += layer.activation_bytes;
    }
    return sum;
  }
};

}  // namespace parajoule::schedule
