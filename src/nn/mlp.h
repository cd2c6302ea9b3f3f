#pragma once

// Fully connected layers with ReLU between them.

#include <cstdint>
#include <vector>

#include "nn/net.h"

namespace parajoule::nn {

/// input (B, ...) flattened -> hidden[0] -> ... -> classes
Net make_mlp(const std::vector<std::int64_t>& hidden, const Input& input, int classes);

}  // namespace parajoule::nn
