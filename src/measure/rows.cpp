#include "measure/rows.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/error.h"
#include "store/process.h"

namespace parajoule::measure {
namespace {

constexpr std::array<std::pair<meter::Quantity, store::Quantity>, 6> quantities{{
    {meter::Quantity::energy, store::Quantity::energy},
    {meter::Quantity::power, store::Quantity::power},
    {meter::Quantity::temperature, store::Quantity::temperature},
    {meter::Quantity::clock, store::Quantity::clock},
    {meter::Quantity::utilisation, store::Quantity::utilisation},
    {meter::Quantity::memory, store::Quantity::memory},
}};
constexpr std::array<std::pair<meter::Label, store::Label>, 3> labels{{
    {meter::Label::measured, store::Label::measured},
    {meter::Label::modelled, store::Label::modelled},
    {meter::Label::simulated, store::Label::simulated},
}};

template <class Pairs, class Metered>
auto recorded(const Pairs& pairs, Metered word) {
  const auto pair = std::ranges::find(pairs, word, &Pairs::value_type::first);
  base::ensure(pair != pairs.end(), "the table of words holds every one");
  return pair->second;
}

template <class Pairs, class Recorded>
auto metered(const Pairs& pairs, Recorded word) {
  const auto pair = std::ranges::find(pairs, word, &Pairs::value_type::second);
  base::ensure(pair != pairs.end(), "the table of words holds every one");
  return pair->first;
}

}  // namespace

store::Source row_of(const meter::Description& description, int source, int node) {
  return {.source = source,
          .node = node,
          .device = description.device,
          .device_kind = description.device_kind,
          .quantity = recorded(quantities, description.quantity),
          .unit = description.unit,
          .label = recorded(labels, description.label),
          .covers = description.covers,
          .part_of = description.part_of,
          .resolution = description.resolution,
          .update_period = description.update_period,
          .window = description.window,
          .bias_relative = description.bias_relative,
          .formula = description.formula};
}

meter::Description description_of(const store::Source& row) {
  return {.device = row.device,
          .device_kind = row.device_kind,
          .quantity = metered(quantities, row.quantity),
          .unit = row.unit,
          .label = metered(labels, row.label),
          .covers = row.covers,
          .part_of = row.part_of,
          .resolution = row.resolution,
          .update_period = row.update_period,
          .window = row.window,
          .bias_relative = row.bias_relative,
          .formula = row.formula};
}

store::Reading row_of(const meter::Row& row, int first_source) {
  store::Reading reading{.source = first_source + int(row.source), .seconds = row.at};
  if (const auto* value = std::get_if<double>(&row.reading))
    reading.value = *value;
  else
    reading.gap = meter::written(std::get<meter::Gap>(row.reading));
  return reading;
}

meter::Row meter_row(const store::Reading& row, std::size_t source) {
  meter::Row metered{.source = source, .at = row.seconds, .reading = 0.0};
  if (row.value)
    metered.reading = *row.value;
  else
    metered.reading = meter::parse_gap(row.gap.value_or(""));
  return metered;
}

std::vector<std::string> not_metered(const meter::Opened& opened,
                                     std::span<const meter::Description> sources) {
  std::vector<std::string> lines;
  for (const meter::Unavailable& missing : opened.unavailable)
    if (!missing.spare())
      lines.push_back(fmt::format("{}{}: {}; {}", store::not_metered, missing.what, missing.reason,
                                  missing.remedy));
  const std::vector<std::string> unmetered = meter::unmetered(sources);
  if (!unmetered.empty())
    lines.push_back(fmt::format("{}{}: nothing here reads them; a meter at the wall plug does",
                                store::not_metered, fmt::join(unmetered, ", ")));
  return lines;
}

MeterRows rows_of(const meter::Opened& opened, int first_source, int node) {
  MeterRows rows;
  std::vector<meter::Description> descriptions;
  for (const auto& source : opened.sources) {
    const int number = first_source + int(descriptions.size());
    descriptions.push_back(source->description());
    rows.sources.push_back(row_of(descriptions.back(), number, node));
  }
  rows.notes = not_metered(opened, descriptions);
  for (const meter::TakenPeriod& taken : opened.periods)
    rows.settings.push_back({fmt::format("update_period.{}", first_source + int(taken.source)),
                             fmt::format("{}", taken.period.count()),
                             fmt::format("sensors {}", taken.seen_utc)});
  return rows;
}

std::string cost_text(const meter::SamplingCost& cost, const std::string& of) {
  return fmt::format(
      "{}{:.3f} s of one core{}, {:.3f} % of it: {} rounds over the sources, {} "
      "left out",
      store::metering_cost, cost.cpu.count(), of, 100 * cost.cpu / cost.wall, cost.rounds,
      cost.left_out);
}

store::Node this_node(int number) {
  struct sysinfo memory {};
  sysinfo(&memory);
  store::Node node{.node = number,
                   .boot_id = store::boot_id(),
                   .host = store::host_name(),
                   .cpus = int(sysconf(_SC_NPROCESSORS_ONLN)),
                   .memory_bytes = std::int64_t(memory.totalram) * memory.mem_unit};
  if (node.boot_id.empty()) node.boot_id = node.host;
  return node;
}

}  // namespace parajoule::measure
