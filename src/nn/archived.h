#pragma once

// The values of a net in a checkpoint.

#include "base/archive.h"
#include "nn/net.h"

namespace parajoule::nn {

/// Stores weights and running statistics under their names, with their shapes, elements in the
/// order in which the layers see them, whatever the net's memory order.
void save(Net& net, base::Archive& archive);

/// Throws Error{input} that names the first difference in name, type or shape; nothing changes
/// then.
void load(Net& net, const base::Archive& archive);

}  // namespace parajoule::nn
