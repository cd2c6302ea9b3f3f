#include "nn/parts.h"

namespace parajoule::nn {

void in_parts(std::size_t parts, const std::function<void(std::size_t)>& act) {
  if (parts == 1) return act(0);
#pragma omp parallel for schedule(static, 1) num_threads(int(parts))
  for (std::size_t i = 0; i < parts; ++i) act(i);
}

}  // namespace parajoule::nn
