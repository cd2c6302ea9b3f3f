#pragma once

// What the layers of a net cost.

#include "nn/net.h"
#include "schedule/profile.h"

namespace parajoule::nn {

/// Sends one sample of zeros through the net and asks its layers. Weights and running statistics
/// stay as they are; the net is left in training.
schedule::Profile profile_of(Net& net);

}  // namespace parajoule::nn
