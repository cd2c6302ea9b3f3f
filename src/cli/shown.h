#pragma once

#include <string>

namespace parajoule::cli {

/// The table of models with parameters and FLOPs, or one model with its options. Throws
/// Error{usage} for an unknown name.
std::string shown_models(const std::string& name);

/// What the layers of a model with its usual options cost, as models/*.toml has it. Throws
/// Error{usage} for an unknown name.
std::string model_profile(const std::string& name);

}  // namespace parajoule::cli
