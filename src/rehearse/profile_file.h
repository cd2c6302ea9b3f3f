#pragma once

// What the layers of a model cost, as a file has it: models/*.toml.

#include <string>

#include "schedule/profile.h"

namespace parajoule::rehearse {

/// The text of such a file. `source`: where its numbers are from.
std::string written(const schedule::Profile& profile, const std::string& name,
                    const std::string& source);

/// Throws Error{input} that names file, line and key.
schedule::Profile read_profile(const std::string& path);
schedule::Profile profile_in(const std::string& text, const std::string& path);

}  // namespace parajoule::rehearse
