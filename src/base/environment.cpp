#include "base/environment.h"

#include <cstdlib>

namespace parajoule::base {

std::optional<std::string> environment(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (!value) return {};
  return value;
}

}  // namespace parajoule::base
