#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace parajoule::base {

/// The environment, as a parameter: the value of a variable if it is there.
using Environment = std::function<std::optional<std::string>(std::string_view)>;

/// That of this process.
std::optional<std::string> environment(std::string_view name);

}  // namespace parajoule::base
