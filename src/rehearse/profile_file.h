#pragma once

// What the layers of a model cost, as a file has it: models/*.toml.

#include <string>

#include "schedule/profile.h"

namespace parajoule::rehearse {

/// Throws Error{input} that names file, line and key.
schedule::Profile read_profile(const std::string& path);
schedule::Profile profile_in(const std::string& text, const std::string& path);

}  // namespace parajoule::rehearse
