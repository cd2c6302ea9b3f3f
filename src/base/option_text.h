#pragma once

// Values of options as people write them.

#include <optional>
#include <string_view>

#include "base/settings.h"

namespace parajoule::base {

/// What a value of this kind is called in "must be ...".
std::string_view wanted(Option::Kind kind);

/// `text` as a value of this kind, if all of it is one. Spaces around it do not count, nor do the
/// quotes of a word and the brackets of a list.
std::optional<Value> value_in(Option::Kind kind, std::string_view text);

}  // namespace parajoule::base
