#include "cli/measure_parts.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/numbers.h"
#include "measure/settings.h"
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

/// A number that somebody gave, what an energy in kWh is multiplied with, and what that is called.
struct Conversion {
  std::string_view what;
  std::string title;
  double factor;
  std::string_view unit;
};

std::vector<Conversion> wanted(const Conversions& conversions) {
  const double pue = conversions.pue.value_or(1);
  const std::string with = conversions.pue ? fmt::format(" and PUE {}", *conversions.pue) : "";
  std::vector<Conversion> all;
  if (conversions.pue)
    all.push_back({"energy_with_pue", fmt::format("with PUE {}", *conversions.pue), pue, "kWh"});
  if (conversions.carbon)
    all.push_back({"carbon", fmt::format("CO2 at {} g a kWh{}", *conversions.carbon, with),
                   pue * *conversions.carbon, "g"});
  if (conversions.price)
    all.push_back({"cost", fmt::format("cost at {} a kWh{}", *conversions.price, with),
                   pue * *conversions.price, ""});
  return all;
}

template <meter::Label label>
void add_converted(const std::optional<meter::Total<label>>& total, const Conversion& conversion,
                   std::vector<Converted>& amounts) {
  if (!total) return;
  amounts.push_back({conversion.what, conversion.unit, label,
                     conversion.factor * base::kilowatt_hours(total->energy()),
                     conversion.factor * base::kilowatt_hours(total->uncertainty().whole())});
}

std::vector<Converted> converted(const measure::Account& account, const Conversion& conversion) {
  std::vector<Converted> amounts;
  add_converted(account.totals.measured, conversion, amounts);
  add_converted(account.totals.modelled, conversion, amounts);
  return amounts;
}

// Names in the record of what `Conversions` holds.
constexpr std::string_view pue_key = "pue";
constexpr std::string_view carbon_key = "carbon_grams_per_kilowatt_hour";
constexpr std::string_view price_key = "price_per_kilowatt_hour";

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

std::vector<Converted> amounts_of(const measure::Account& account, const Conversions& conversions) {
  std::vector<Converted> all;
  for (const Conversion& conversion : wanted(conversions))
    for (const Converted& amount : converted(account, conversion)) all.push_back(amount);
  return all;
}

std::vector<std::string> converted(const measure::Account& account,
                                   const Conversions& conversions) {
  std::vector<std::string> lines;
  for (const Conversion& conversion : wanted(conversions)) {
    std::vector<std::string> amounts;
    for (const Converted& amount : converted(account, conversion))
      amounts.push_back(fmt::format("{} {}{}{}", meter::name_of(amount.label),
                                    rounded(amount.value, amount.half_width),
                                    amount.unit.empty() ? "" : " ", amount.unit));
    lines.push_back(
        fmt::format("{}: {}", conversion.title,
                    amounts.empty() ? "none" : fmt::format("{}", fmt::join(amounts, "; "))));
  }
  return lines;
}

std::vector<store::Setting> settings_of(const Conversions& conversions) {
  std::vector<store::Setting> settings;
  const auto add = [&](std::string_view key, const std::optional<double>& value) {
    if (value) settings.push_back({std::string(key), fmt::format("{}", *value), "command line"});
  };
  add(pue_key, conversions.pue);
  add(carbon_key, conversions.carbon);
  add(price_key, conversions.price);
  return settings;
}

Conversions conversions_in(const measure::Account& account) {
  const auto number = [&](std::string_view key) {
    return measure::number_in<double>(account.settings, key);
  };
  return {.pue = number(pue_key), .carbon = number(carbon_key), .price = number(price_key)};
}

}  // namespace parajoule::cli
