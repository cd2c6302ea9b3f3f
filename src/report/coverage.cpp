// What is metered, what is not, and what the latter could add.

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

double total(double metered, double node_hours, double watts, double loss, double cooling) {
  return (metered + node_hours * watts / 1000) * (1 + loss) * cooling;
}

std::vector<Cell> row_of(const Point& point, const Assumptions& assumed) {
  const double metered = point.energy_kwh->mean;
  const double node_hours = *point.wall_hours() * *point.nodes();
  const double low = total(metered, node_hours, assumed.node_watts.low, assumed.supply_loss.low,
                           assumed.cooling.low),
               high = total(metered, node_hours, assumed.node_watts.high, assumed.supply_loss.high,
                            assumed.cooling.high);
  const double open = metered * 0.005;  // an assumption has no more than three digits
  auto cells = configuration_cells(point);
  cells.insert(cells.end(), {cell_of(energy_kwh(point)),
                             {point.bias ? supported(metered * *point.bias, open / 5) : "-"},
                             {supported(low, open)},
                             {supported(high, open)},
                             {fmt::format("{:.2f} to {:.2f}", low / metered, high / metered)}});
  return cells;
}

}  // namespace

void add_coverage(const Request& request, Page& page) {
  Section section{.id = "coverage", .title = "7. What is not in these numbers?"};
  const Assumptions& assumed = request.assumed;
  Table table{.id = "coverage",
              .title = "Metered, and with what nobody metered",
              .columns = configuration_columns()};
  for (const Column& column : std::vector<Column>{{"metered, kWh", "metered_kwh", true},
                                                  {"sensor bias, ± kWh", "bias_kwh"},
                                                  {"with the rest, least", "low_kwh"},
                                                  {"most, kWh", "high_kwh"},
                                                  {"factor", "factor"}})
    table.columns.push_back(column);
  for (const Point& point : distinct(request.points))
    if (point.energy_kwh && point.wall_hours() && point.nodes())
      table.rows.push_back(row_of(point, assumed));
  section.say(
      "The energies are those that the inputs give: of processors, memory and devices where "
      "the study's meter had a sensor. Network, boards, disks, fans, the losses of power "
      "supplies and cooling are in none of them.");
  section.say(fmt::format(
      "The band takes {:.0f} to {:.0f} W a node for network, board, disks and fans "
      "(--node-watts), {:.0f} to {:.0f} % lost in supplies (--supply-loss), and a building that "
      "takes {:.2f} to {:.2f} times what its machines do (--cooling). These are assumptions and no "
      "measurements. 110 W a node is the study's own setting of its meter, which its numbers leave "
      "out.",
      assumed.node_watts.low, assumed.node_watts.high, 100 * assumed.supply_loss.low,
      100 * assumed.supply_loss.high, assumed.cooling.low, assumed.cooling.high));
  if (!table.rows.empty()) section.parts.emplace_back(std::move(table));
  page.not_supported.push_back(
      "The energy of the whole machine: only metered parts are in the numbers; section 7 says what "
      "the rest could add.");
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
