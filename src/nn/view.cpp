#include "nn/view.h"

#include <torch/torch.h>

#include "base/error.h"

namespace parajoule::nn {

namespace {

at::ScalarType type_of(base::Element element) {
  switch (element) {
    case base::Element::float32:
      return at::kFloat;
    case base::Element::float64:
      return at::kDouble;
    case base::Element::float16:
      return at::kHalf;
    case base::Element::bfloat16:
      return at::kBFloat16;
    case base::Element::int64:
      return at::kLong;
    case base::Element::byte:
      return at::kByte;
  }
  base::ensure(false, "every element has a type of tensors");
  return at::kByte;
}

std::vector<std::int64_t> strides_of(at::IntArrayRef shape, Order order) {
  if (order == Order::channels_last && shape.size() == 4) {
    const std::int64_t channels = shape[1], width = shape[3];
    return {shape[2] * width * channels, 1, width * channels, channels};
  }
  std::vector<std::int64_t> strides(shape.size(), 1);
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace

at::Tensor view(base::Vector values, at::IntArrayRef shape, Order order) {
  base::ensure(values.place() == base::Place::host, "tensors are views of host memory");
  base::ensure(c10::multiply_integers(shape) == std::int64_t(values.count()),
               "a view has as many elements as its memory");
  return at::from_blob(values.data(), shape, strides_of(shape, order), type_of(values.element()));
}

}  // namespace parajoule::nn
