#pragma once

// The one table that names the models.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "nn/net.h"

namespace parajoule::nn {

/// What a model is published for.
struct Usual {
  Input input;
  int classes;
};

struct Model {
  std::string_view name;  ///< as in `model = "resnet50"`
  std::string_view summary;
  std::string_view paper;
  Usual usual;
  std::vector<base::Option> options;
  /// The data gives the shape of a sample and the number of classes. All weights are zero until
  /// `initialise`. Throws Error{usage} for options that do not fit each other.
  Net (*make)(const base::Settings&, const Input&, int classes);
};

std::span<const Model> models();

/// Throws Error{usage} that names the known ones.
const Model& model(std::string_view name);

}  // namespace parajoule::nn
