#include "cli/measure_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "cli/measure_parts.h"
#include "meter/source.h"
#include "store/tables.h"

namespace parajoule::cli {
namespace {

using nlohmann::json;

json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

template <class Value>
json value_or_null(const std::optional<Value>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_arithmetic_v<Value>)
    return json(*value);
  else if constexpr (requires { value->count(); })
    return number(value->count());
  else if constexpr (requires { value->value; })
    return number(value->value);
  else
    return json(*value);
}

json uncertainty_of(const meter::Uncertainty& uncertainty) {
  return {{"half_width_joules", number(uncertainty.whole().value)},
          {"repeats_joules", number(uncertainty.resolution.value)},
          {"bias_joules", number(uncertainty.bias.value)}};
}

template <meter::Label label>
json total_of(const std::optional<meter::Total<label>>& total, base::Seconds wall) {
  if (!total) return nullptr;
  return {{"energy_joules", number(total->energy().value)},
          {"energy_kilowatt_hours", number(base::kilowatt_hours(total->energy()))},
          {"uncertainty", uncertainty_of(total->uncertainty())},
          {"mean_power_watts", number(total->energy().value / wall.count())}};
}

json totals_of(const meter::Totals& totals, base::Seconds wall) {
  return {{"measured", total_of(totals.measured, wall)},
          {"modelled", total_of(totals.modelled, wall)},
          {"simulated", total_of(totals.simulated, wall)}};
}

json above_of(const measure::NodeEnergy& node, std::size_t source) {
  if (!node.above || !node.above->sources[source].energy) return nullptr;
  const meter::SourceAccount& above = node.above->sources[source];
  return {{"energy_joules", number(above.energy->value)},
          {"uncertainty", uncertainty_of(above.uncertainty)}};
}

json device_of(const measure::NodeEnergy& node, std::size_t place) {
  const meter::SourceAccount& source = node.command.sources[place];
  const meter::Description& description = source.description;
  return {{"node", node.node.node},
          {"device", description.device},
          {"device_kind", description.device_kind},
          {"quantity", meter::name_of(description.quantity)},
          {"label", meter::name_of(description.label)},
          {"covers", description.covers},
          {"part_of", value_or_null(description.part_of)},
          {"formula", value_or_null(description.formula)},
          {"counted", source.counts},
          {"energy_joules", value_or_null(source.energy)},
          {"uncertainty", source.energy ? uncertainty_of(source.uncertainty) : json(nullptr)},
          {"mean_power_watts", value_or_null(source.mean_power)},
          {"peak_power_watts", value_or_null(source.peak_power)},
          {"covered_seconds", number(source.covered.count())},
          {"above_idle", above_of(node, place)},
          {"remarks", source.remarks}};
}

json wholes_of(const meter::NodeAccount& node) {
  json wholes = json::array();
  for (const meter::Whole& whole : node.wholes)
    wholes.push_back(
        {{"device", node.sources[whole.source].description.device},
         {"energy_joules", value_or_null(node.sources[whole.source].energy)},
         {"remainder_joules", value_or_null(whole.remainder)},
         {"uncertainty", whole.remainder ? uncertainty_of(whole.uncertainty) : json(nullptr)},
         {"remarks", whole.remarks}});
  return wholes;
}

json node_of(const measure::NodeEnergy& node) {
  const meter::Span span = node.command.span;
  return {{"node", node.node.node},
          {"boot_id", node.node.boot_id},
          {"host", node.node.host},
          {"processors", node.node.cpus},
          {"wall_seconds", number(span.length().count())},
          {"idle_seconds", node.idle ? number(node.idle->length().count()) : json(nullptr)},
          {"cpu_seconds", value_or_null(node.cpu)},
          {"totals", totals_of(node.command.totals, span.length())},
          {"wholes", wholes_of(node.command)}};
}

json regions_of(const measure::Account& account) {
  json regions = json::array();
  for (const measure::Region& region : account.regions) {
    json energies = json::array();
    for (const measure::RegionEnergy& energy : region.energies)
      energies.push_back(
          {{"device", energy.device},
           {"label", meter::name_of(energy.label)},
           {"counted", energy.counts},
           {"energy_joules", value_or_null(energy.energy)},
           {"uncertainty", energy.energy ? uncertainty_of(energy.uncertainty) : json(nullptr)}});
    regions.push_back({{"name", region.name},
                       {"node", region.node},
                       {"entered", region.entered},
                       {"seconds", number(region.time.count())},
                       {"energies", std::move(energies)}});
  }
  return regions;
}

json accelerators_of(const measure::Account& account) {
  if (!account.figures) return nullptr;
  const auto intensity = [](const std::optional<meter::Intensity>& of) {
    return of ? number(of->kilowatt_hours_per_device_hour) : json(nullptr);
  };
  return {{"devices", account.accelerators},
          {"device_hours", number(account.figures->device_hours)},
          {"kilowatt_hours_per_device_hour_measured", intensity(account.figures->measured)},
          {"kilowatt_hours_per_device_hour_modelled", intensity(account.figures->modelled)}};
}

json conversions_of(const measure::Account& account, const Conversions& conversions) {
  json amounts = json::array();
  for (const Converted& amount : amounts_of(account, conversions))
    amounts.push_back({{"what", amount.what},
                       {"unit", amount.unit},
                       {"label", meter::name_of(amount.label)},
                       {"value", number(amount.value)},
                       {"half_width", number(amount.half_width)}});
  return {{"pue", value_or_null(conversions.pue)},
          {"carbon_grams_per_kilowatt_hour", value_or_null(conversions.carbon)},
          {"price_per_kilowatt_hour", value_or_null(conversions.price)},
          {"amounts", std::move(amounts)}};
}

json settings_of(const measure::Account& account) {
  json settings = json::object();
  for (const store::Setting& setting : account.settings) settings[setting.key] = setting.value;
  return settings;
}

json notes_of(const measure::Account& account) {
  json notes = json::array();
  for (const store::Note& note : account.notes)
    notes.push_back({{"seconds", number(note.seconds.count())},
                     {"severity", store::text_of(note.severity)},
                     {"text", note.text}});
  return notes;
}

}  // namespace

std::string measure_json(const measure::Account& account, const Conversions& conversions,
                         const std::filesystem::path& record) {
  json devices = json::array();
  json nodes = json::array();
  for (const measure::NodeEnergy& node : account.nodes) {
    nodes.push_back(node_of(node));
    for (std::size_t i = 0; i < node.command.sources.size(); ++i)
      if (meter::energetic(node.command.sources[i].description))
        devices.push_back(device_of(node, i));
  }
  json all = {
      {"format", "parajoule measure"},
      {"version", 1},
      {"parajoule", account.run.version},
      {"id", account.run.id},
      {"name", account.run.name},
      {"command", account.run.command},
      {"started_utc", account.run.started_utc},
      {"record", record.string()},
      {"status", value_or_null(account.status)},
      {"wall_seconds", number(account.wall.count())},
      {"cpu_seconds", value_or_null(account.cpu)},
      {"uncertainty_defined", uncertainty_defined},
      {"expected_nodes", account.expected_nodes},
      {"totals", totals_of(account.totals, account.wall)},
      {"above_idle", account.above ? totals_of(*account.above, account.wall) : json(nullptr)},
      {"unmetered", unmetered_parts(account)},
      {"unmetered_reasons", unmetered_reasons(account)},
      {"metering_cost", account.metering_cost},
      {"accelerators", accelerators_of(account)},
      {"nodes", std::move(nodes)},
      {"devices", std::move(devices)},
      {"regions", regions_of(account)},
      {"converted", converted(account, conversions)},
      {"conversions", conversions_of(account, conversions)},
      {"settings", settings_of(account)},
      {"notes", notes_of(account)}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace parajoule::cli
