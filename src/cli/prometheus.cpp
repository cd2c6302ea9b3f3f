#include "cli/prometheus.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "store/utf8.h"

namespace parajoule::cli {
namespace {

using meter::Quantity;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : store::valid_utf8(text)) {
    if (c == '\n')
      result += "\\n";
    else if (c == '"' || c == '\\')
      result += std::string("\\") + c;
    else
      result += c;
  }
  return result;
}

/// What tells the sources of a device apart: `energy` of a counter, `power` of an integral; with a
/// number where a device has several of a kind, as two lines must not have the same labels.
std::vector<std::string> origins(std::span<const Exposed> exposed) {
  std::map<std::tuple<std::string, std::string, meter::Label, Quantity>, int> seen;
  std::vector<std::string> names;
  for (const Exposed& each : exposed) {
    const meter::Description& description = each.description;
    const int count =
        ++seen[{each.node, description.device, description.label, description.quantity}];
    const std::string name(meter::name_of(description.quantity));
    names.push_back(count == 1 ? name : fmt::format("{} {}", name, count));
  }
  return names;
}

std::string labels(const Exposed& exposed, std::string_view origin) {
  const meter::Description& description = exposed.description;
  return fmt::format(R"(node="{}",device="{}",kind="{}",label="{}",from="{}",part_of="{}")",
                     escaped(exposed.node), escaped(description.device),
                     escaped(description.device_kind), meter::name_of(description.label), origin,
                     escaped(description.part_of.value_or("")));
}

struct Metric {
  std::string name;
  std::string_view type;
  std::string_view help;
  std::function<std::optional<double>(const Exposed&)> value;
};

std::optional<double> other_value(const Exposed& exposed, std::string_view unit) {
  const bool other = !meter::energetic(exposed.description) && exposed.description.unit == unit;
  return other ? exposed.value : std::nullopt;
}

std::vector<Metric> metrics() {
  std::vector<Metric> all = {
      {"parajoule_energy_joules_total", "counter",
       "Energy since metering began. Add neither lines of different labels nor a device to "
       "what it is part_of.",
       [](const Exposed& e) { return e.energy ? std::optional(e.energy->value) : std::nullopt; }},
      {"parajoule_power_watts", "gauge",
       "Power over about the last second, or the mean of a command that has ended.",
       [](const Exposed& e) { return e.power ? std::optional(e.power->value) : std::nullopt; }},
      {"parajoule_reading_failed", "gauge", "1 if the last reading of the source failed.",
       [](const Exposed& e) {
         return e.failed ? std::optional(*e.failed ? 1.0 : 0.0) : std::nullopt;
       }}};
  const auto add = [&](const char* name, const char* help, std::string_view unit) {
    all.push_back({name, "gauge", help, [unit](const Exposed& e) { return other_value(e, unit); }});
  };
  add("parajoule_temperature_celsius", "Temperature of the device.", "celsius");
  add("parajoule_clock_hertz", "Clock of the device.", "hertz");
  add("parajoule_clock_reasons", "Why clocks are held back, a bit each.", "reasons");
  add("parajoule_utilisation_ratio", "Busy share of the device, 0 to 1.", "fraction");
  add("parajoule_processes", "Processes that compute on the device.", "processes");
  add("parajoule_memory_bytes", "Memory of the device in use.", "bytes");
  return all;
}

}  // namespace

std::string prometheus_text(std::span<const Exposed> exposed) {
  const std::vector<std::string> origin = origins(exposed);
  std::string text;
  for (const Metric& metric : metrics()) {
    std::string lines;
    for (std::size_t i = 0; i < exposed.size(); ++i)
      if (const auto value = metric.value(exposed[i]); value && std::isfinite(*value))
        lines += fmt::format("{}{{{}}} {}\n", metric.name, labels(exposed[i], origin[i]), *value);
    if (lines.empty()) continue;
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", metric.name, metric.help,
                        metric.type, lines);
  }
  return text;
}

std::vector<Exposed> exposed_of(const measure::Account& account) {
  std::vector<Exposed> all;
  for (const measure::NodeEnergy& node : account.nodes)
    for (const meter::SourceAccount& source : node.command.sources)
      all.push_back({.description = source.description,
                     .node = node.node.host,
                     .energy = source.energy,
                     .power = source.mean_power});
  return all;
}

}  // namespace parajoule::cli
