#pragma once

// What differs between two experiments, in their words.

#include <optional>
#include <string>
#include <string_view>

namespace parajoule::cli {

/// A key with what it is here and there; empty where it is not set.
struct Difference {
  std::string key;
  std::string here;
  std::string there;
};

/// The first in the order of the keys. Both texts are settings, a line each: `key = value`.
std::optional<Difference> difference(std::string_view here, std::string_view there);

/// "epochs = 3".
std::string setting_text(const std::string& key, const std::string& value);

}  // namespace parajoule::cli
