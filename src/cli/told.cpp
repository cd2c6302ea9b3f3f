#include "cli/told.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/energy_text.h"
#include "cli/energy_unit.h"
#include "cli/run_account.h"
#include "measure/settings.h"
#include "store/amend.h"

namespace parajoule::cli {
namespace {

using base::Joules;
using Align = Table::Align;

std::string key_of(int source, std::string_view what) {
  return fmt::format("told.{}.{}", source, what);
}

constexpr std::string_view energy = "joules";
constexpr std::string_view uncertainty = "uncertainty_joules";

/// The sources of a record node by node, as accounts have them.
std::vector<store::Source> in_order(const store::Reader& record) {
  std::vector<store::Source> sources = record.rows<store::Source>();
  std::ranges::stable_sort(sources, {}, &store::Source::node);
  return sources;
}

/// The accounts of `nodes` in that order.
std::vector<meter::SourceAccount> all_of(std::span<const meter::NodeAccount> nodes) {
  std::vector<meter::SourceAccount> all;
  for (const meter::NodeAccount& node : nodes)
    all.insert(all.end(), node.sources.begin(), node.sources.end());
  return all;
}

struct Count {
  std::size_t readings = 0;
  std::size_t gaps = 0;
};

std::map<int, Count> counted(const store::Reader& record) {
  std::map<int, Count> counts;
  record.each<store::Reading>([&](const store::Reading& reading) {
    ++(reading.value ? counts[reading.source].readings : counts[reading.source].gaps);
  });
  return counts;
}

std::string change_of(const Recomputed& source, const EnergyUnit& unit) {
  if (!source.told && !source.now.energy) return "no number";
  if (!source.told) return "was not told";
  if (!source.now.energy) return "has no number now";
  if (!source.differs()) return "none";
  const Joules more = *source.now.energy - *source.told;
  return fmt::format("{}{} ({:+.3g} %)", more.value > 0 ? "+" : "", unit.text(more),
                     100 * more.value / source.told->value);
}

EnergyUnit unit_of(std::span<const Recomputed> sources) {
  Joules most{};
  for (const Recomputed& source : sources)
    most = std::max({most, source.told.value_or(most), source.now.energy.value_or(most)});
  return unit_for(most);
}

std::string verdict(std::span<const Recomputed> sources) {
  const auto different = std::ranges::count_if(sources, &Recomputed::differs);
  switch (recount_of(sources)) {
    case Recount::unknown:
      return "Nothing was told of this run's energies: there is nothing to compare with.\n";
    case Recount::differs:
      return fmt::format(
          "{} of {} numbers differ from what was told: the readings, what the record "
          "says of their sources, or the arithmetic changed.\n",
          different, sources.size());
    case Recount::same:
      break;
  }
  return "Every number is what was told.\n";
}

}  // namespace

bool Recomputed::differs() const {
  constexpr double digits = 1e-9;
  if (told.has_value() != now.energy.has_value()) return true;
  if (!told) return false;
  const auto apart = [](Joules a, Joules b) {
    // Never near what is no number.
    return !(std::abs((a - b).value) <= digits * std::max(std::abs(a.value), std::abs(b.value)));
  };
  return apart(*told, *now.energy) ||
         (told_uncertainty && apart(*told_uncertainty, now.uncertainty.whole()));
}

void keep_told(const std::filesystem::path& file, std::span<const meter::NodeAccount> nodes) {
  const std::vector<store::Source> sources = in_order(store::Reader(file));
  const std::vector<meter::SourceAccount> accounts = all_of(nodes);
  store::Amendment told;
  for (std::size_t i = 0; i < std::min(sources.size(), accounts.size()); ++i) {
    if (!accounts[i].energy) continue;
    const auto add = [&](std::string_view what, Joules value) {
      told.settings.push_back(
          {key_of(sources[i].source, what), fmt::format("{}", value.value), "told"});
    };
    add(energy, *accounts[i].energy);
    add(uncertainty, accounts[i].uncertainty.whole());
  }
  if (!told.settings.empty()) store::amend(file, told);
}

std::string keep_told(const std::filesystem::path& file) {
  try {
    keep_told(file, account_of(store::Reader(file)).whole.nodes);
    return {};
  } catch (const base::Error& error) {
    return fmt::format("the energies told are not kept: {}", error.what());
  }
}

std::vector<Recomputed> recomputed(const store::Reader& record) {
  const std::vector<store::Source> sources = in_order(record);
  const std::vector<meter::SourceAccount> accounts = all_of(account_of(record).whole.nodes);
  const auto settings = record.rows<store::Setting>();
  auto counts = counted(record);
  std::vector<Recomputed> all;
  for (std::size_t i = 0; i < std::min(sources.size(), accounts.size()); ++i) {
    if (!meter::energetic(accounts[i].description)) continue;
    const int source = sources[i].source;
    Recomputed one{.source = source,
                   .node = sources[i].node,
                   .now = accounts[i],
                   .readings = counts[source].readings,
                   .gaps = counts[source].gaps};
    if (const auto told = measure::number_in<double>(settings, key_of(source, energy)))
      one.told = Joules{*told};
    if (const auto told = measure::number_in<double>(settings, key_of(source, uncertainty)))
      one.told_uncertainty = Joules{*told};
    all.push_back(std::move(one));
  }
  return all;
}

Recount recount_of(std::span<const Recomputed> sources) {
  if (std::ranges::none_of(sources, [](const Recomputed& one) { return one.told.has_value(); }))
    return Recount::unknown;
  return std::ranges::any_of(sources, &Recomputed::differs) ? Recount::differs : Recount::same;
}

std::string recomputed_text(const store::Reader& record, std::span<const Recomputed> sources,
                            Look look) {
  const EnergyUnit unit = unit_of(sources);
  std::string text = fmt::format("{} ({})\n\n", shown(record.run().name), record.run().id);
  Table table({{.heading = "node", .align = Align::right},
               {.heading = "device", .most = 16},
               {.heading = "label"},
               {.heading = "readings", .align = Align::right},
               {.heading = "gaps", .align = Align::right},
               {.heading = "told", .align = Align::right},
               {.heading = "recomputed", .align = Align::right},
               {.heading = "difference"}});
  for (const Recomputed& one : sources) {
    const auto shown_energy = [&](const std::optional<Joules>& energy) {
      return energy ? unit.text(*energy) : std::string("-");
    };
    table.add({std::to_string(one.node), one.now.description.device,
               std::string(meter::name_of(one.now.description.label)), std::to_string(one.readings),
               std::to_string(one.gaps), shown_energy(one.told), shown_energy(one.now.energy),
               change_of(one, unit)});
  }
  if (table.empty()) return text + "The record has no source of energy or power.\n";
  return text + table.text(look) + "\n" + verdict(sources);
}

}  // namespace parajoule::cli
