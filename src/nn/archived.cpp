#include "nn/archived.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "nn/body.h"

namespace parajoule::nn {

namespace {

using Named = std::vector<std::pair<std::string, at::Tensor>>;

Named values_of(Net& net) {
  Named values;
  for (const auto& item : net.body().named_parameters()) {
    values.emplace_back(item.key(), item.value().detach());
  }
  for (const auto& item : net.body().named_buffers()) values.emplace_back(item.key(), item.value());
  return values;
}

base::Element element_of(const at::Tensor& tensor) {
  if (tensor.scalar_type() == at::kDouble) return base::Element::float64;
  if (tensor.scalar_type() == at::kLong) return base::Element::int64;
  base::ensure(tensor.scalar_type() == at::kFloat, "values are float32, float64 or int64");
  return base::Element::float32;
}

base::Vector elements(const at::Tensor& contiguous) {
  return {contiguous.data_ptr(), std::size_t(contiguous.numel()), element_of(contiguous)};
}

}  // namespace

void save(Net& net, base::Archive& archive) {
  for (const auto& [name, tensor] : values_of(net)) {
    archive.put(name, elements(tensor.contiguous()), tensor.sizes().vec());
  }
}

void load(Net& net, const base::Archive& archive) {
  const Named values = values_of(net);
  std::vector<at::Tensor> stored;
  for (const auto& [name, tensor] : values) {
    stored.push_back(at::empty(tensor.sizes(), tensor.options()));
    archive.get(name, elements(stored.back()), tensor.sizes().vec());
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i].second.copy_(stored[i]);
}

}  // namespace parajoule::nn
