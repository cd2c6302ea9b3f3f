#include "cli/difference.h"

#include <map>
#include <set>
#include <sstream>

#include <fmt/format.h>

namespace parajoule::cli {
namespace {

std::map<std::string, std::string> settings_in(std::string_view text) {
  constexpr std::string_view equals = " = ";
  std::map<std::string, std::string> settings;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(equals);
    if (at != line.npos) settings[line.substr(0, at)] = line.substr(at + equals.size());
  }
  return settings;
}

}  // namespace

std::optional<Difference> difference(std::string_view here, std::string_view there) {
  if (here == there) return {};
  auto first = settings_in(here);
  auto second = settings_in(there);
  std::set<std::string> keys;
  for (const auto* settings : {&first, &second}) {
    for (const auto& [key, value] : *settings) keys.insert(key);
  }
  for (const std::string& key : keys) {
    if (first[key] != second[key]) return Difference{key, first[key], second[key]};
  }
  return {};
}

std::string setting_text(const std::string& key, const std::string& value) {
  return value.empty() ? fmt::format("no `{}`", key) : fmt::format("{} = {}", key, value);
}

}  // namespace parajoule::cli
