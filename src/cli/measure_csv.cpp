#include "cli/measure_csv.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/measure_parts.h"
#include "meter/source.h"
#include "store/csv.h"

namespace parajoule::cli {
namespace {

constexpr std::string_view columns[] = {
    "id",          "started_utc",  "name",          "command",
    "status",      "wall_seconds", "cpu_seconds",   "slurm_job",
    "host",        "device",       "device_kind",   "quantity",
    "label",       "counted",      "energy_joules", "repeats_joules",
    "bias_joules", "mean_watts",   "peak_watts",    "above_idle_joules",
    "covers",      "remarks"};

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

template <class Value>
std::string number(const std::optional<Value>& value) {
  if (!value) return "";
  if constexpr (requires { value->count(); })
    return number(value->count());
  else
    return number(value->value);
}

std::vector<std::string> row_of(const measure::Account& account, const measure::NodeEnergy& node,
                                std::size_t place) {
  const meter::SourceAccount& source = node.command.sources[place];
  const meter::Description& description = source.description;
  const bool has = source.energy.has_value();
  return {account.run.id,
          account.run.started_utc,
          account.run.name,
          account.run.command,
          account.status ? std::to_string(*account.status) : "",
          number(node.command.span.length().count()),
          number(node.cpu),
          account.setting("slurm.job_id").value_or(""),
          node.node.host,
          description.device,
          description.device_kind,
          std::string(meter::name_of(description.quantity)),
          std::string(meter::name_of(description.label)),
          source.counts ? "1" : "0",
          number(source.energy),
          has ? number(source.uncertainty.resolution.value) : "",
          has ? number(source.uncertainty.bias.value) : "",
          number(source.mean_power),
          number(source.peak_power),
          node.above ? number(node.above->sources[place].energy) : "",
          description.covers,
          fmt::format("{}", fmt::join(source.remarks, "; "))};
}

}  // namespace

std::string measure_csv_head() { return fmt::format("{}\n", fmt::join(columns, ",")); }

std::string measure_csv_rows(const measure::Account& account) {
  std::string text;
  for (const measure::NodeEnergy& node : account.nodes)
    for (std::size_t i = 0; i < node.command.sources.size(); ++i) {
      if (!meter::energetic(node.command.sources[i].description)) continue;
      std::vector<std::string> cells = row_of(account, node, i);
      for (std::string& cell : cells) cell = store::csv_text(cell);
      text += fmt::format("{}\n", fmt::join(cells, ","));
    }
  return text;
}

}  // namespace parajoule::cli
