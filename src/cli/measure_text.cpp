#include "cli/measure_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/energy_text.h"
#include "cli/energy_unit.h"
#include "cli/measure_parts.h"
#include "cli/numbers.h"
#include "store/tables.h"

namespace parajoule::cli {
namespace {

using Align = Table::Align;

base::Joules most_of(const measure::Account& account) {
  base::Joules most{};
  const auto see = [&](const auto& total) {
    if (total) most = std::max(most, total->energy());
  };
  see(account.totals.measured);
  see(account.totals.modelled);
  see(account.totals.simulated);
  return most;
}

std::string ending(const measure::Account& account) {
  if (account.status) {
    const auto signal = account.setting("signal");
    return signal ? fmt::format("killed by signal {} (status {})", *signal, *account.status)
                  : fmt::format("status {}", *account.status);
  }
  if (account.standing == store::Standing::running) return "still running";
  return "the meter was killed before the command's end";
}

std::string time_line(const measure::Account& account) {
  std::string text = fmt::format("{} wall", spoken(account.wall));
  if (account.cpu) {
    text += fmt::format(", {} CPU", spoken(*account.cpu));
    if (account.wall > base::Seconds(0))
      text += fmt::format(" ({:.2f} processors busy)", *account.cpu / account.wall);
  }
  return fmt::format("{}, {}", text, ending(account));
}

std::string nodes_line(const measure::Account& account) {
  const int held = int(account.nodes.size());
  if (held < account.expected_nodes)
    return fmt::format("nodes {} of {}: the others' records are missing", held,
                       account.expected_nodes);
  return fmt::format("nodes {} of {}", held, account.expected_nodes);
}

void add_set_in(std::string& text, std::string_view name, std::string_view body,
                std::size_t columns) {
  constexpr std::size_t margin = 13;
  const std::size_t width = std::max<std::size_t>(columns, margin + 20) - margin;
  bool first = true;
  for (const std::string& line : wrapped(shown(body), width)) {
    text += fmt::format("{:<{}}{}\n", first ? name : "", margin, line);
    first = false;
  }
}

std::string head(const measure::Account& account, std::size_t columns) {
  std::string text;
  add_set_in(text, "command", account.run.command, columns);
  add_set_in(text, "time", time_line(account), columns);
  if (account.expected_nodes > 1) add_set_in(text, "nodes", nodes_line(account), columns);
  return text;
}

template <meter::Label label>
void add_total(Table& table, const measure::Account& account,
               const std::optional<meter::Total<label>>& total,
               const std::optional<meter::Total<label>>& above, const EnergyUnit& unit) {
  std::vector<std::string> cells = {std::string(meter::name_of(label)), "none"};
  if (total) {
    cells[1] = unit.text(total->energy(), total->uncertainty());
    if (account.above)
      cells.push_back(above ? unit.text(above->energy(), above->uncertainty()) : "");
    if (account.wall > base::Seconds(0))
      cells.push_back(fmt::format("{:.1f} W", (total->energy() / account.wall).value));
    cells.push_back(fmt::format("{} kWh", rounded(base::kilowatt_hours(total->energy()))));
  }
  table.add(cells);
}

/// What is wanted most comes first: what does not fit is left out from the right.
std::string totals(const measure::Account& account, const EnergyUnit& unit,
                   const TextOptions& options) {
  std::vector<Table::Column> columns = {{.heading = "total", .most = 12},
                                        {.heading = "energy", .align = Align::right}};
  if (account.above) columns.push_back({.heading = "above idle", .align = Align::right});
  if (account.wall > base::Seconds(0))
    columns.push_back({.heading = "mean power", .align = Align::right});
  columns.push_back({.heading = "energy in kWh", .align = Align::right});
  const std::size_t least = account.above ? 3 : 2;
  Table table(std::move(columns));
  const meter::Totals above = account.above.value_or(meter::Totals{});
  add_total(table, account, account.totals.measured, above.measured, unit);
  add_total(table, account, account.totals.modelled, above.modelled, unit);
  if (account.totals.simulated)
    add_total(table, account, account.totals.simulated, above.simulated, unit);
  return table.fitting(options.look, options.columns, least);
}

std::string device_hours(const measure::Account& account) {
  if (!account.figures) return {};
  const auto of = [](std::string_view label, const std::optional<meter::Intensity>& intensity) {
    return intensity ? fmt::format(", {} {} kWh a device hour", label,
                                   rounded(intensity->kilowatt_hours_per_device_hour))
                     : std::string();
  };
  return fmt::format("{} accelerators, {} device hours{}{}", account.accelerators,
                     rounded(account.figures->device_hours),
                     of("measured", account.figures->measured),
                     of("modelled", account.figures->modelled));
}

std::string notes(const measure::Account& account, std::size_t columns) {
  std::string text;
  for (const store::Note& note : account.notes)
    if (note.severity != store::Severity::note)
      add_set_in(text, store::text_of(note.severity), note.text, columns);
  return text;
}

/// Meters of whole nodes, and what they have over the parts.
std::string wholes_of(const measure::Account& account, Look look) {
  StretchAccount nodes{.work = {}, .nodes = {}, .totals = {}};
  for (const measure::NodeEnergy& node : account.nodes) nodes.nodes.push_back(node.command);
  return wholes_text(nodes, look);
}

std::string slurm_line(const measure::Account& account) {
  const auto consumed = account.setting("slurm.consumed_energy_joules");
  if (!consumed) return {};
  return fmt::format("ConsumedEnergy {} J: Slurm's own count, of whole nodes, in no total here",
                     *consumed);
}

}  // namespace

const std::string_view uncertainty_defined =
    "half of a 95 % interval. `repeats` (counter steps, times of reading, noise) is independent "
    "from device to device and averages out; `bias` is that of a type of sensors, or of the model: "
    "common to all of the type, it adds up.";

std::string measure_text(const measure::Account& account, const TextOptions& options) {
  const EnergyUnit unit = unit_for(most_of(account));
  const Look look = options.look;
  const std::size_t columns = options.columns;
  std::string text = rule_text("parajoule measure", std::min<std::size_t>(columns, 78), look);
  text += head(account, columns) + "\n" + totals(account, unit, options);
  const auto add = [&](std::string& to, std::string_view name, const std::string& line) {
    if (!line.empty()) add_set_in(to, name, line, columns);
  };
  add(text, "not metered", fmt::format("{}", fmt::join(unmetered_parts(account), ", ")));
  add(text, "devices", device_hours(account));
  add(text, "Slurm", slurm_line(account));
  for (const std::string& line : converted(account, options.conversions)) add(text, "", line);
  text += "\n" + devices_text(account, unit, options);
  const std::string wholes = wholes_of(account, look);
  if (!wholes.empty()) text += "\nwhole nodes, beside the sums above\n" + wholes;
  const std::string regions = regions_text(account, unit, options);
  if (!regions.empty()) text += "\n" + regions;
  text += "\n" + notes(account, columns);
  std::string small;
  for (const std::string& reason : unmetered_reasons(account)) add(small, "no meter", reason);
  for (const std::string& cost : account.metering_cost) add(small, "meter", cost);
  add(small, "±", std::string(uncertainty_defined));
  text += dim(small, look);
  add(text, "again", options.show_again);
  return text;
}

}  // namespace parajoule::cli
