#pragma once

// Work that is cut into as many parts as there are threads.

#include <cstddef>
#include <functional>

namespace parajoule::nn {

/// Calls act(0) ... act(parts - 1), each on a thread of its own where the build has OpenMP, whose
/// threads are those of libtorch. Nothing may be thrown out of `act`.
void in_parts(std::size_t parts, const std::function<void(std::size_t)>& act);

}  // namespace parajoule::nn
