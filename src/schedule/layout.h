#pragma once

// How the parameters of a model lie in a replica's vectors: plain values, shared by all ranks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/vector.h"

namespace parajoule::schedule {

/// What a parameter is to its layer. Optimizers may leave biases and normalisation out of weight
/// decay; layer-wise ones treat vectors and matrices differently.
enum class Kind : std::uint8_t { matrix, bias, normalisation, embedding };

struct Parameter {
  std::string name;                 ///< as in the model: "layer1.0.conv1.weight"
  std::vector<std::int64_t> shape;  ///< as the layer sees it
  base::Range range;                ///< where it lies in weights and gradients
  Kind kind = Kind::matrix;
  int backward = 0;  ///< place in the order in which gradients become ready, from 0
};

/// A running statistic that training changes without a gradient (mean, variance).
struct Buffer {
  std::string name;
  std::vector<std::int64_t> shape;
  base::Range range;  ///< where it lies in buffers
};

/// Parameters lie in the order of their ranges, without gaps.
struct Layout {
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::size_t parameter_count() const {
    return parameters.empty() ? 0 : parameters.back().range.end;
  }
  std::size_t buffer_count() const { return buffers.empty() ? 0 : buffers.back().range.end; }
};

}  // namespace parajoule::schedule
