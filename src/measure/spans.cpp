#include "measure/spans.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <fmt/format.h>

namespace parajoule::measure {
namespace {

std::string key_of(std::string_view name, int node, std::string_view end) {
  return fmt::format("{}.{}.{}_seconds", name, node, end);
}

std::optional<base::Seconds> moment_in(const std::vector<store::Setting>& settings,
                                       const std::string& key) {
  const auto found = std::ranges::find(settings, key, &store::Setting::key);
  if (found == settings.end()) return {};
  const std::string& text = found->value;
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  return base::Seconds(seconds);
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
