#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/rows.h"

namespace parajoule::measure {

/// The value of a setting, if it is there.
inline std::optional<std::string_view> find(const std::vector<store::Setting>& settings,
                                            std::string_view key) {
  const auto found = std::ranges::find(settings, key, &store::Setting::key);
  return found == settings.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

/// The same as a number; none if it is no number.
template <class Number>
std::optional<Number> number_in(const std::vector<store::Setting>& settings, std::string_view key) {
  const auto text = find(settings, key);
  Number number{};
  if (!text) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return number;
}

}  // namespace parajoule::measure
