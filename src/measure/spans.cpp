#include "measure/spans.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "measure/settings.h"

namespace parajoule::measure {
namespace {

std::string key_of(std::string_view name, int node, std::string_view end) {
  return fmt::format("{}.{}.{}_seconds", name, node, end);
}

std::optional<base::Seconds> moment_in(const std::vector<store::Setting>& settings,
                                       const std::string& key) {
  const auto seconds = number_in<double>(settings, key);
  return seconds ? std::optional(base::Seconds(*seconds)) : std::nullopt;
}

}  // namespace

std::vector<store::Setting> settings_of(std::string_view name, int node, base::Seconds begin,
                                        std::optional<base::Seconds> end) {
  std::vector<store::Setting> settings = {
      {key_of(name, node, "begin"), fmt::format("{}", begin.count()), "found"}};
  if (end)
    settings.push_back({key_of(name, node, "end"), fmt::format("{}", end->count()), "found"});
  return settings;
}

std::optional<meter::Span> span_in(const std::vector<store::Setting>& settings,
                                   std::string_view name, int node, base::Seconds last) {
  const auto begin = moment_in(settings, key_of(name, node, "begin"));
  if (!begin) return {};
  const base::Seconds end = moment_in(settings, key_of(name, node, "end")).value_or(last);
  return meter::Span{*begin, std::max(*begin, end)};
}

}  // namespace parajoule::measure
