#pragma once

// The one table that names the data sets.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "data/dataset.h"

namespace parajoule::data {

enum class Split { training, validation };

struct Kind {
  std::string_view name;  ///< as in `data = "fashion_mnist"`
  std::string_view summary;
  std::vector<base::Option> options;
  /// Throws Error{input} that says what is missing and how to get it.
  std::unique_ptr<Dataset> (*open)(const base::Settings&, Split);
};

std::span<const Kind> kinds();

/// Throws Error{usage} that names the known ones.
const Kind& kind(std::string_view name);

/// What is trained on one can be judged on the other: neither is empty, and their pictures have the
/// same shape. Throws Error{input}.
void need_alike(const Dataset& training, const Dataset& validation);

}  // namespace parajoule::data
