#include "meter/redfish_answer.h"

#include <cmath>

#include <nlohmann/json.hpp>

namespace parajoule::meter {

using base::Joules;
using base::Watts;
using Json = nlohmann::json;

namespace {

Json parsed(std::string_view text) {
  constexpr bool may_throw = false;
  return Json::parse(text, nullptr, may_throw);
}

/// What stands under `name`, or null.
const Json& at(const Json& json, std::string_view name) {
  static const Json nothing;
  if (!json.is_object()) return nothing;
  const auto found = json.find(name);
  return found == json.end() ? nothing : *found;
}

/// A number, alone or as the `Reading` of a sensor.
std::optional<double> number(const Json& json) {
  const Json& value = json.is_object() ? at(json, "Reading") : json;
  if (!value.is_number()) return {};
  const double number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// An address on the server itself: one that begins with // names another.
std::optional<std::string> address(const Json& json) {
  const Json& id = at(json, "@odata.id");
  if (!id.is_string()) return {};
  const auto& text = id.get_ref<const std::string&>();
  const bool plain = text.find_first_of(" \t\r\n#") == std::string::npos;
  if (!text.starts_with('/') || text.starts_with("//") || !plain) return {};
  return text;
}

}  // namespace

std::vector<std::string> redfish_members(std::string_view text) {
  const Json json = parsed(text);
  std::vector<std::string> members;
  for (const Json& member : at(json, "Members"))
    if (auto found = address(member)) members.push_back(std::move(*found));
  return members;
}

std::optional<std::string> redfish_link(std::string_view text, std::string_view name) {
  return address(at(parsed(text), name));
}

std::optional<Watts> redfish_power(std::string_view text) {
  const Json json = parsed(text);
  std::optional<double> watts = number(at(json, "PowerWatts"));
  const Json& controls = at(json, "PowerControl");
  if (!watts && controls.is_array() && !controls.empty())
    watts = number(at(controls.front(), "PowerConsumedWatts"));
  return watts && *watts > 0 ? std::optional(Watts{*watts}) : std::nullopt;
}

std::optional<Joules> redfish_energy(std::string_view text) {
  const auto hours = number(at(parsed(text), "EnergykWh"));
  const double joules = hours.value_or(-1) * 3.6e6;
  return joules >= 0 && std::isfinite(joules) ? std::optional(Joules{joules}) : std::nullopt;
}

}  // namespace parajoule::meter
