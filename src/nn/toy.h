#pragma once

// Small nets and memory for the tests of nn/.

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nn/catalog.h"
#include "nn/replica.h"

namespace parajoule::nn::toy {

inline Net make(std::string_view name, const Input& input, int classes,
                const std::map<std::string, base::Value>& given = {}) {
  const Model& known = model(name);
  return known.make(base::Settings(name, known.options, given), input, classes);
}

/// Memory for a replica of a net, elements of type T, all of them `unset`.
template <class T>
class Memory {
 public:
  static constexpr T unset = -77;

  explicit Memory(Net& net) : Memory(layout_of(net)) {}
  explicit Memory(const schedule::Layout& layout)
      : weights(layout.parameter_count(), unset),
        gradients(layout.parameter_count(), unset),
        buffers(layout.buffer_count(), unset) {}

  Replica replica() {
    return {.weights = base::Vector(std::span(weights)),
            .gradients = base::Vector(std::span(gradients)),
            .buffers = base::Vector(std::span(buffers))};
  }

  std::vector<T> weights;
  std::vector<T> gradients;
  std::vector<T> buffers;
};

/// The names of all models.
inline std::vector<std::string> names() {
  std::vector<std::string> names;
  for (const Model& known : models()) names.emplace_back(known.name);
  return names;
}

}  // namespace parajoule::nn::toy
