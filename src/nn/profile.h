#pragma once

// What the layers of a net cost.

#include "nn/catalog.h"
#include "nn/net.h"
#include "schedule/profile.h"

namespace parajoule::nn {

/// Sends one sample of zeros through the net and asks its layers. Weights and running statistics
/// stay as they are; the net is left in training.
schedule::Profile profile_of(Net& net);

/// Of a model with its usual options, samples and classes: what `parajoule models` shows.
schedule::Profile describe(const Model& model);

}  // namespace parajoule::nn
