#include "nn/parts.h"

// For compilers without OpenMP: one part after the other.

namespace parajoule::nn {

void in_parts(std::size_t parts, const std::function<void(std::size_t)>& act) {
  for (std::size_t i = 0; i < parts; ++i) act(i);
}

}  // namespace parajoule::nn
