#pragma once

#include <optional>
#include <string>
#include <vector>

namespace parajoule::cli {

/// The table of models with parameters and FLOPs, or one model with its options. Throws
/// Error{usage} for an unknown name.
std::string shown_models(const std::string& name);

/// A model, and the data it is trained on.
struct ProfileWords {
  std::string name;
  std::vector<std::string> set;  ///< options of the model: width=24
  std::string input;             ///< 1x28x28: channels, height, width; "": as published
  std::optional<int> classes;    ///< none: as published
};

/// What its layers cost, as models/*.toml has it. Throws Error{usage}.
std::string model_profile(const ProfileWords& words);

}  // namespace parajoule::cli
