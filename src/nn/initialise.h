#pragma once

// The first weights of a model.

#include <cstdint>

#include "nn/net.h"

namespace parajoule::nn {

/// Draws all weights: He initialisation (He et al. 2015, arXiv:1502.01852), scales 1 (or as the
/// model says), the rest 0; running means 0 and variances 1. Element i of parameter p is the i-th
/// normal number of `base::stream(seed, Purpose::weights, p)`, elements counted as the layer sees
/// them: equal seeds give equal weights on every rank, in every memory order, and up to rounding in
/// every precision.
void initialise(Net& net, std::uint64_t seed);

}  // namespace parajoule::nn
