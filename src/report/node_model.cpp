// Energy per device hour as a device's own and its share of the node.

#include <set>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/regression.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

struct Shares {
  std::vector<double> nodes_per_device;
  std::vector<double> powers;
};

Shares shares_of(const std::vector<Point>& points) {
  Shares shares;
  for (const Point& point : points) {
    const auto power = energy_per_device_hour(point);
    const auto nodes = point.nodes();
    if (!power || !nodes || point.devices < 1) continue;
    shares.nodes_per_device.push_back(*nodes / point.devices);
    shares.powers.push_back(power->value);
  }
  return shares;
}

std::optional<Fit> add_row(Table& table, const std::string& name, const Shares& shares) {
  const std::set<double> different(shares.nodes_per_device.begin(), shares.nodes_per_device.end());
  const auto found = fit(line_design(shares.nodes_per_device), shares.powers);
  std::vector<Cell> cells = {
      {name}, {std::to_string(shares.powers.size())}, {std::to_string(different.size())}};
  if (found)
    for (const Coefficient& c : found->coefficients)
      cells.push_back(cell_of(std::optional(Derived{c.estimate, 0, c.half_width})));
  else
    cells.insert(cells.end(), {{"-"}, {"-"}});
  cells.push_back({found ? supported(found->residual_deviation, 0) : "-"});
  cells.push_back({found ? fmt::format("{:.4f}", found->r_squared) : "-"});
  table.rows.push_back(std::move(cells));
  return found;
}

Figure figure_of(const std::vector<Series>& all, const std::optional<Fit>& found) {
  Figure figure{.id = "node-model",
                .title = "Mean power against the share of a node",
                .x = "nodes per device",
                .y = "kW"};
  for (const Series& series : all) {
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points) {
      const auto power = energy_per_device_hour(point);
      if (const auto nodes = point.nodes(); nodes && power && point.devices > 0)
        curve.marks.push_back(
            {*nodes / point.devices, power->value, power->half_width.value_or(0)});
    }
    figure.curves.push_back(std::move(curve));
  }
  if (found) {
    Curve line{.name = "device + host × nodes per device", .marks = {}, .line = true};
    for (const double x : {0.0, 1.0}) line.marks.push_back({x, found->at(std::vector{1.0, x})});
    figure.curves.push_back(std::move(line));
  }
  return figure;
}

}  // namespace

void add_node_model(const Request& request, Page& page) {
  Section section{.id = "node",
                  .title = "5. How much of it is the device, how much the node around it?"};
  Table table{.id = "node-model",
              .title = "Energy per device hour = device + host × nodes ÷ devices",
              .columns = {{"points", "points"},
                          {"configurations", "configurations"},
                          {"different shares", "shares"},
                          {"device, kW", "device_kw", true},
                          {"host, kW a node", "host_kw", true},
                          {"deviation of residuals, kW", "residual_deviation_kw"},
                          {"R²", "r_squared"}}};
  const auto all = series_of(request.points);
  const auto once = distinct(request.points);
  for (const Series& series : all) add_row(table, series.name, shares_of(series.points));
  const auto found = add_row(table, "all, each run once", shares_of(once));
  if (found) {
    const auto &device = found->coefficients[0], &host = found->coefficients[1];
    const std::string told = fmt::format(
        "{} kW for the device and {} kW for the node around it (95 %, scatter about the model)",
        supported(device.estimate, 0, device.half_width),
        supported(host.estimate, 0, host.half_width));
    section.say(fmt::format("Over all configurations: {}.", told));
    page.supported.push_back(fmt::format("A model of the node: {}.", told));
    section.say(
        "`Host` is everything metered that is there once a node, idle devices of an "
        "exclusive node among it. Where batch size or data set change along with the share, "
        "their effect is in these numbers too: compare the rows.");
  } else {
    section.say(
        "The model cannot be fitted: it takes three configurations, among them one that "
        "fills its nodes less than another.");
  }
  section.parts.emplace_back(figure_of(all, found));
  section.parts.emplace_back(std::move(table));
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
