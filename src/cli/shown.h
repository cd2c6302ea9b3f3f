#pragma once

#include <string>

namespace parajoule::cli {

/// The table of models with parameters and FLOPs, or one model with its options. Throws
/// Error{usage} for an unknown name.
std::string shown_models(const std::string& name);

}  // namespace parajoule::cli
