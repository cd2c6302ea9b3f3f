#pragma once

// The help in "unknown key": which of the known names was meant.

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace parajoule::base {

/// The name that differs least from `word` (letters changed, added, dropped or swapped with their
/// neighbour), if any is near enough to have been meant: at most a third of the letters, and at
/// least one.
std::optional<std::string_view> nearest(std::string_view word,
                                        std::span<const std::string_view> names);

/// "; did you mean 'x'?" or, with nothing near, "; known: a, b, c"; without names "; there are
/// none".
std::string hint(std::string_view word, std::span<const std::string_view> names);

}  // namespace parajoule::base
