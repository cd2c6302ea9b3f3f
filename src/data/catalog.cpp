#include "data/catalog.h"

#include <algorithm>

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

}  // namespace parajoule::data
