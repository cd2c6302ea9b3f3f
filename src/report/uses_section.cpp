// "Where the kWh went", a table a run.

#include <algorithm>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/sections.h"
#include "report/uses.h"

namespace parajoule::report {
namespace {

constexpr std::size_t most_runs = 30;

std::string wh(base::Joules energy) { return supported(energy.value / 3600, 0); }

Table table_of(const Traced& run, const Uses& uses, std::size_t number) {
  Table table{
      .id = fmt::format("uses-{}", number + 1),
      .title = fmt::format("{}, energy {}", run.run, run.label),
      .columns = {
          {"for", "use"}, {"Wh", "wh"}, {"%", "percent"}, {"less without it, Wh", "saving_wh"}}};
  const auto row = [&](const Use& use) {
    table.rows.push_back({{use.name},
                          {wh(use.energy)},
                          {fmt::format("{:.1f}", 100 * (use.energy / uses.total))},
                          {use.if_removed ? wh(*use.if_removed) : "-"}});
  };
  for (const Use& use : uses.uses) row(use);
  row({"total", uses.total});
  for (const Suggestion& suggestion : uses.suggestions)
    table.notes.push_back(fmt::format("{}: would save {} kWh. {}.", suggestion.change,
                                      supported(base::kilowatt_hours(suggestion.saving), 0,
                                                base::kilowatt_hours(suggestion.half_width)),
                                      suggestion.evidence));
  if (uses.suggestions.empty())
    table.notes.emplace_back("Nothing takes a twentieth of the energy that a setting could spare.");
  return table;
}

}  // namespace

void add_uses(const Request& request, Page& page) {
  if (request.traced.empty()) return;
  Section section{.id = "uses", .title = "Where did the kWh go, and what would spare some?"};
  section.say(
      "The power of each moment is shared equally by the ranks that train; each rank's share "
      "goes to the phase it is in. `Less without it` is what the run would have taken less; "
      "for stragglers with the slow rank's own time.");
  std::size_t shown = 0;
  for (const Traced& run : request.traced) {
    const auto uses = uses_of(run);
    if (!uses) continue;
    if (shown == most_runs) {
      section.say(fmt::format("The first {} of {} runs are shown; give fewer to see others.",
                              most_runs, request.traced.size()));
      break;
    }
    section.parts.emplace_back(table_of(run, *uses, shown++));
  }
  if (shown > 0) page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
