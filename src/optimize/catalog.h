#pragma once

// The one table that names the optimizers.

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "optimize/optimizer.h"
#include "schedule/layout.h"

namespace parajoule::optimize {

struct Entry {
  std::string_view name;  ///< as in `optimizer = "sgd"`
  std::string_view summary;
  std::string_view paper;
  std::vector<base::Option> options;
  /// Throws Error{usage} for settings that exclude each other.
  std::unique_ptr<Optimizer> (*make)(const base::Settings&, const schedule::Layout&, const Memory&);
};

std::span<const Entry> optimizers();

/// Throws Error{usage} that names the known ones.
const Entry& optimizer(std::string_view name);

/// mu of an optimizer that keeps a velocity, 0 if it is switched off; none for those of another
/// form.
std::optional<double> momentum(const base::Settings& settings);

}  // namespace parajoule::optimize
