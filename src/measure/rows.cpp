#include "measure/rows.h"

#include <variant>

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "store/process.h"

namespace parajoule::measure {
namespace {

store::Quantity recorded(meter::Quantity quantity) {
  switch (quantity) {
    case meter::Quantity::energy:
      return store::Quantity::energy;
    case meter::Quantity::power:
      return store::Quantity::power;
    case meter::Quantity::temperature:
      return store::Quantity::temperature;
    case meter::Quantity::clock:
      return store::Quantity::clock;
    case meter::Quantity::utilisation:
      return store::Quantity::utilisation;
    case meter::Quantity::memory:
      break;
  }
  return store::Quantity::memory;
}

meter::Quantity meter_word(store::Quantity quantity) {
  switch (quantity) {
    case store::Quantity::energy:
      return meter::Quantity::energy;
    case store::Quantity::power:
      return meter::Quantity::power;
    case store::Quantity::temperature:
      return meter::Quantity::temperature;
    case store::Quantity::clock:
      return meter::Quantity::clock;
    case store::Quantity::utilisation:
      return meter::Quantity::utilisation;
    case store::Quantity::memory:
      break;
  }
  return meter::Quantity::memory;
}

store::Label recorded(meter::Label label) {
  switch (label) {
    case meter::Label::measured:
      return store::Label::measured;
    case meter::Label::modelled:
      return store::Label::modelled;
    case meter::Label::simulated:
      break;
  }
  return store::Label::simulated;
}

meter::Label meter_word(store::Label label) {
  switch (label) {
    case store::Label::measured:
      return meter::Label::measured;
    case store::Label::modelled:
      return meter::Label::modelled;
    case store::Label::simulated:
      break;
  }
  return meter::Label::simulated;
}

}  // namespace

store::Source row_of(const meter::Description& description, int source, int node) {
  return {.source = source,
          .node = node,
          .device = description.device,
          .device_kind = description.device_kind,
          .quantity = recorded(description.quantity),
          .unit = description.unit,
          .label = recorded(description.label),
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
          .quantity = meter_word(row.quantity),
          .unit = row.unit,
          .label = meter_word(row.label),
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

std::string cost_text(const meter::SamplingCost& cost, const std::string& of) {
  return fmt::format(
      "{}{:.3f} s of one core{}, {:.3f} % of it: {} rounds over the sources, {} "
      "left out",
      store::metering_cost, cost.cpu.count(), of, 100 * cost.cpu / cost.wall, cost.rounds,
      cost.left_out);
}

store::Node this_node(int number) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  struct sysinfo memory {};
  sysinfo(&memory);
  store::Node node{.node = number,
                   .boot_id = store::boot_id(),
                   .host = host,
                   .cpus = int(sysconf(_SC_NPROCESSORS_ONLN)),
                   .memory_bytes = std::int64_t(memory.totalram) * memory.mem_unit};
  if (node.boot_id.empty()) node.boot_id = node.host;
  return node;
}

}  // namespace parajoule::measure
