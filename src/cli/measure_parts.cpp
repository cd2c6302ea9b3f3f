#include "cli/measure_parts.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/numbers.h"
#include "meter/source.h"

namespace parajoule::cli {
namespace {

using Align = Table::Align;

constexpr std::size_t margin = 4;   // of what stands below a device
constexpr std::size_t enough = 72;  // columns of a terminal for all columns of the devices

/// Lines that stand for what no machine can meter from within; the last words of the note.
constexpr std::string_view nothing_reads = ": nothing here reads them";

std::string place_of(const measure::Account& account, const measure::NodeEnergy& node,
                     const std::string& device) {
  return account.nodes.size() > 1 ? fmt::format("{} on {}", device, node.node.host) : device;
}

/// A row of the devices, and what it has beyond idleness, if that was metered.
struct Shown {
  const meter::SourceAccount* source;
  const meter::SourceAccount* above;
};

/// What stands below a device: why it has no number or is in no total, and what is odd.
std::vector<std::string> below(const Shown& row, const EnergyUnit& unit,
                               const TextOptions& options) {
  const meter::SourceAccount& source = *row.source;
  const meter::Description& description = source.description;
  const bool full = options.detail == Detail::full;
  const std::size_t width = options.columns - std::min(options.columns, margin);
  std::vector<std::string> lines = {full ? description.covers : cut(description.covers, width)};
  if (full && description.label != meter::Label::measured && description.formula)
    lines.push_back(*description.formula);
  if (row.above && row.above->energy)
    lines.push_back(
        fmt::format("above idle {}", unit.text(*row.above->energy, row.above->uncertainty)));
  if (source.energy && !source.counts)
    lines.push_back(description.part_of
                        ? fmt::format("within {}, not added again", *description.part_of)
                        : "not added: another source has it");
  lines.insert(lines.end(), source.remarks.begin(), source.remarks.end());
  return lines;
}

/// Whether it is shown as a whole, with what it has over its parts.
bool stands_apart(const meter::NodeAccount& node, const meter::SourceAccount& source) {
  return std::ranges::any_of(node.wholes, [&](const meter::Whole& whole) {
    return &node.sources[whole.source] == &source;
  });
}

std::string watts(const std::optional<base::Watts>& power) {
  return power ? fmt::format("{:.1f} W", power->value) : "";
}

std::vector<std::string> wide_row(const std::string& place, const meter::SourceAccount& source,
                                  const EnergyUnit& unit) {
  std::string label(meter::name_of(source.description.label));
  if (!source.energy) return {place, std::move(label), "no number"};
  return {place,
          std::move(label),
          unit.text(*source.energy),
          unit.bare(source.uncertainty.resolution),
          unit.bare(source.uncertainty.bias),
          watts(source.mean_power),
          watts(source.peak_power)};
}

std::vector<std::string> narrow_row(const std::string& place, const meter::SourceAccount& source,
                                    const EnergyUnit& unit) {
  return {place, std::string(meter::name_of(source.description.label)),
          source.energy ? unit.text(*source.energy, source.uncertainty) : "no number"};
}

void add_below(std::string& text, const Shown& source, const EnergyUnit& unit,
               const TextOptions& options) {
  const std::size_t width = std::max<std::size_t>(options.columns, margin + 20) - margin;
  for (const std::string& line : below(source, unit, options))
    for (const std::string& part : wrapped(shown(line), width))
      text += dim(fmt::format("{:{}}{}\n", "", margin, part), options.look);
}

/// A label's energy in kWh times something, if it has one.
template <meter::Label label>
void add_times(const std::optional<meter::Total<label>>& total, double factor,
               std::string_view unit, std::vector<std::string>& amounts) {
  if (!total) return;
  const double kilowatt_hours = base::kilowatt_hours(total->energy());
  const double uncertain = base::kilowatt_hours(total->uncertainty().whole());
  amounts.push_back(fmt::format("{} {}{}", meter::name_of(label),
                                rounded(kilowatt_hours * factor, uncertain * factor), unit));
}

}  // namespace

std::string devices_text(const measure::Account& account, const EnergyUnit& unit,
                         const TextOptions& options) {
  const bool wide = options.columns >= enough;
  Table table = wide ? Table({{.heading = "device", .most = 24},
                              {.heading = "label"},
                              {.heading = "energy", .align = Align::right},
                              {.heading = "± repeats", .align = Align::right},
                              {.heading = "± bias", .align = Align::right},
                              {.heading = "mean", .align = Align::right},
                              {.heading = "peak", .align = Align::right}})
                     : Table({{.heading = "device", .most = 16},
                              {.heading = "label"},
                              {.heading = "energy", .align = Align::right}});
  std::vector<Shown> sources;
  for (const measure::NodeEnergy& node : account.nodes)
    for (std::size_t i = 0; i < node.command.sources.size(); ++i) {
      const meter::SourceAccount& source = node.command.sources[i];
      if (!meter::energetic(source.description) || stands_apart(node.command, source)) continue;
      const std::string place = place_of(account, node, source.description.device);
      table.add(wide ? wide_row(place, source, unit) : narrow_row(place, source, unit));
      sources.push_back({&source, node.above ? &node.above->sources[i] : nullptr});
    }
  if (sources.empty()) return {};
  std::istringstream rows(table.text(options.look));
  std::string text;
  std::string row;
  for (int heading = 0; heading < 2 && std::getline(rows, row); ++heading) text += row + "\n";
  for (std::size_t i = 0; std::getline(rows, row); ++i) {
    text += row + "\n";
    add_below(text, sources[i], unit, options);
  }
  return text;
}

std::string regions_text(const measure::Account& account, const EnergyUnit& unit,
                         const TextOptions& options) {
  Table table({{.heading = "region", .most = options.columns >= enough ? 24U : 12U},
               {.heading = "device", .most = 16},
               {.heading = "label"},
               {.heading = "energy", .align = Align::right},
               {.heading = "time", .align = Align::right},
               {.heading = "entered", .align = Align::right}});
  for (const measure::Region& region : account.regions) {
    const std::string time = spoken(region.time);
    const std::string entered = std::to_string(region.entered);
    bool first = true;
    for (const measure::RegionEnergy& energy : region.energies) {
      if (!energy.counts) continue;
      table.add({first ? region.name : "", energy.device, std::string(meter::name_of(energy.label)),
                 energy.energy ? unit.text(*energy.energy, energy.uncertainty) : "no number",
                 first ? time : "", first ? entered : ""});
      first = false;
    }
    if (first) table.add({region.name, "none", "", "", time, entered});
  }
  return account.regions.empty() ? "" : table.fitting(options.look, options.columns, 4);
}

std::vector<std::string> unmetered_parts(const measure::Account& account) {
  std::vector<std::string> parts;
  for (const std::string& line : account.unmetered)
    parts.push_back(line.substr(0, line.find(": ")));
  for (const measure::NodeEnergy& node : account.nodes)
    for (const meter::SourceAccount& source : node.command.sources)
      if (meter::energetic(source.description) && !source.energy)
        parts.push_back(place_of(account, node, source.description.device));
  return parts;
}

std::vector<std::string> unmetered_reasons(const measure::Account& account) {
  std::vector<std::string> reasons;
  for (const std::string& line : account.unmetered)
    if (line.find(nothing_reads) == line.npos) reasons.push_back(line);
  return reasons;
}

std::vector<std::string> converted(const measure::Account& account,
                                   const Conversions& conversions) {
  std::vector<std::string> lines;
  const double pue = conversions.pue.value_or(1);
  const auto add = [&](const std::string& what, double factor, std::string_view unit) {
    std::vector<std::string> amounts;
    add_times(account.totals.measured, factor, unit, amounts);
    add_times(account.totals.modelled, factor, unit, amounts);
    lines.push_back(fmt::format(
        "{}: {}", what, amounts.empty() ? "none" : fmt::format("{}", fmt::join(amounts, "; "))));
  };
  const std::string with = conversions.pue ? fmt::format(" and PUE {}", *conversions.pue) : "";
  if (conversions.pue) add(fmt::format("with PUE {}", *conversions.pue), pue, " kWh");
  if (conversions.carbon)
    add(fmt::format("CO2 at {} g a kWh{}", *conversions.carbon, with), pue * *conversions.carbon,
        " g");
  if (conversions.price)
    add(fmt::format("cost at {} a kWh{}", *conversions.price, with), pue * *conversions.price, "");
  return lines;
}

}  // namespace parajoule::cli
