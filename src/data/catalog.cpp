#include "data/catalog.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "data/sets.h"

namespace parajoule::data {

std::span<const Kind> kinds() {
  static const std::vector<Kind> table = {fashion_mnist(), idx(), cifar10(), cifar100(), images()};
  return table;
}

const Kind& kind(std::string_view name) {
  const auto found = std::ranges::find(kinds(), name, &Kind::name);
  if (found != kinds().end()) return *found;
  std::vector<std::string_view> names;
  for (const Kind& known : kinds()) names.push_back(known.name);
  throw base::Error(base::Fault::usage,
                    fmt::format("unknown data set '{}'{}", name, base::hint(name, names)));
}

void need_alike(const Dataset& training, const Dataset& validation) {
  for (const auto& [set, name] : {std::pair(&training, "training"), {&validation, "validation"}})
    if (set->size() == 0)
      throw base::Error(base::Fault::input, fmt::format("the {} set holds no sample", name));
  const Shape a = training.shape();
  const Shape b = validation.shape();
  if (a == b) return;
  throw base::Error(base::Fault::input,
                    fmt::format("the training pictures have {}x{}x{} values, those of validation "
                                "{}x{}x{}: both must have the same shape (channels, height, width)",
                                a.channels, a.height, a.width, b.channels, b.height, b.width));
}

}  // namespace parajoule::data
