#include "base/error.h"

#include <fmt/format.h>

namespace parajoule::base {

void ensure(bool holds, std::string_view claim, std::source_location at) {
  if (holds) return;
  throw Error(Fault::bug,
              fmt::format("does not hold: {} ({}:{})", claim, at.file_name(), at.line()));
}

}  // namespace parajoule::base
