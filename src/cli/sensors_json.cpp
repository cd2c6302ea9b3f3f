#include <nlohmann/json.hpp>

#include "cli/sensors_text.h"

namespace parajoule::cli {
namespace {

using nlohmann::ordered_json;

template <class Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json seconds_or_null(const std::optional<base::Seconds>& time) {
  return time ? ordered_json(time->count()) : ordered_json(nullptr);
}

ordered_json json_of(const SensedSource& source) {
  const meter::Description& description = source.description;
  const meter::Observed& observed = source.observed;
  return {{"state", name_of(source.state)},
          {"reason", source.reason},
          {"device", description.device},
          {"device_kind", description.device_kind},
          {"quantity", name_of(description.quantity)},
          {"unit", description.unit},
          {"label", name_of(description.label)},
          {"covers", description.covers},
          {"part_of", or_null(description.part_of)},
          {"resolution", or_null(description.resolution)},
          {"update_period_seconds", seconds_or_null(description.update_period)},
          {"window_seconds", seconds_or_null(description.window)},
          {"bias_relative", or_null(description.bias_relative)},
          {"formula", or_null(description.formula)},
          {"seen_update_seconds", seconds_or_null(observed.update)},
          {"seen_update_is_upper_bound", observed.quicker},
          {"read_seconds", observed.cost.count()},
          {"reads", observed.reads},
          {"failed_reads", observed.failed}};
}

ordered_json json_of(const meter::Unavailable& unavailable) {
  return {{"state", state_of(unavailable)},
          {"what", unavailable.what},
          {"reason", unavailable.reason},
          {"remedy", unavailable.remedy}};
}

ordered_json json_of(const SensedFamily& family) {
  ordered_json sources = ordered_json::array();
  for (const SensedSource& source : family.sources) sources.push_back(json_of(source));
  ordered_json unavailable = ordered_json::array();
  for (const meter::Unavailable& each : family.unavailable) unavailable.push_back(json_of(each));
  return {{"name", family.name},
          {"reads", family.reads},
          {"seen_on_real_hardware", family.met_devices},
          {"sources", std::move(sources)},
          {"unavailable", std::move(unavailable)}};
}

}  // namespace

std::string sensors_json(const Sensed& sensed) {
  ordered_json families = ordered_json::array();
  for (const SensedFamily& family : sensed.families) families.push_back(json_of(family));
  const ordered_json all = {{"format", "parajoule sensors"},
                            {"version", 1},
                            {"watched_seconds", sensed.watched.count()},
                            {"families", std::move(families)},
                            {"unmetered", sensed.unmetered}};
  return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace parajoule::cli
