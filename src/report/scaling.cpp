// Time, speed-up, efficiency, energy and quality against the number of devices.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/onset.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

template <class Number>
bool constant(const std::vector<Point>& points, Number number, double tolerance) {
  std::vector<double> values;
  for (const Point& point : points) {
    const std::optional<double> value = number(point);
    if (!value) return false;
    values.push_back(*value);
  }
  if (values.empty()) return false;
  const auto [least, most] = std::ranges::minmax_element(values);
  return *most - *least <= tolerance * *most;
}

/// Times as many samples a second as the smallest number of devices. None without samples.
std::optional<Derived> speed_up(const Point& first, const Point& point, double ideal) {
  const auto base = samples_per_second_and_device(first),
             own = samples_per_second_and_device(point);
  if (!base || !own) return {};
  Derived result{.value = own->value / base->value * ideal, .half_unit = 0};
  result.half_unit = result.value * (own->half_unit / own->value + base->half_unit / base->value);
  if (&first != &point && own->half_width && base->half_width)
    result.half_width =
        result.value * std::hypot(*own->half_width / own->value, *base->half_width / base->value);
  return result;
}

Table table_of(const Series& series, std::size_t number) {
  Table table{.id = fmt::format("scaling-{}", number + 1),
              .title = fmt::format("{}: {}", series.name, regime_of(series.points)),
              .columns = configuration_columns()};
  for (const Column& column :
       std::vector<Column>{{"wall time, min", "wall_minutes", true},
                           {"device hours", "device_hours", true},
                           {"speed-up", "speed_up", true},
                           {"efficiency", "efficiency", true},
                           {"energy, kWh", "energy_kwh", true},
                           {"energy per node, kWh", "energy_per_node_kwh", true}})
    table.columns.push_back(column);
  const bool quality = std::ranges::any_of(series.points, [](auto& p) { return bool(p.error); });
  if (quality) table.columns.push_back({"error", "error", true});
  for (const Point& point : series.points) {
    auto cells = configuration_cells(point);
    const Point& first = series.points.front();
    const double ideal = double(point.devices) / std::max(1, first.devices);
    for (const auto& number_of :
         {wall_minutes(point), device_hours(point), speed_up(first, point, ideal),
          speed_up(first, point, 1), energy_kwh(point), energy_per_node(point)})
      cells.push_back(cell_of(number_of));
    if (quality && point.error) {
      Derived error{.value = point.error->mean, .half_unit = point.error->half_unit};
      error.half_width = half_width({point.error->mean, point.error->deviation, point.repeats});
      cells.push_back(cell_of(std::optional(error)));
    } else if (quality) {
      cells.push_back({"-"});
    }
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "Speed-up: samples per second against those of the first row (for a constant data set, its "
      "time "
      "over the time); efficiency: the same a device. ± is half of Student's 95 % interval of the "
      "mean over the repeats."};
  return table;
}

Figure figure_of(const std::vector<Series>& all, std::string id, std::string title,
                 std::optional<Derived> (*number)(const Point&), std::string y) {
  Figure figure{.id = std::move(id),
                .title = std::move(title),
                .x = "devices",
                .y = std::move(y),
                .log_x = true,
                .log_y = true};
  for (const Series& series : all) {
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points)
      if (const auto value = number(point))
        curve.marks.push_back({double(point.devices), value->value, value->half_width.value_or(0)});
    figure.curves.push_back(std::move(curve));
  }
  figure.note = "Means; bars are 95 % intervals of the mean over the repeats, where there are any.";
  return figure;
}

void add_quality(const std::vector<Series>& all, Section& section, Page& page) {
  bool any = false;
  Figure figure{.id = "quality",
                .title = "From which global batch does quality degrade?",
                .x = "global batch size",
                .y = "error",
                .log_x = true};
  for (const Series& series : all) {
    std::vector<AtBatch> rows;
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points)
      if (point.error && point.global_batch) {
        const Sample sample{point.error->mean, point.error->deviation, point.repeats};
        rows.push_back({*point.global_batch, sample});
        curve.marks.push_back({*point.global_batch, sample.mean, half_width(sample).value_or(0)});
        figure.y = point.error_name;
      }
    if (rows.empty()) continue;
    any = true;
    figure.curves.push_back(std::move(curve));
    const Degradation found = degradation(rows);
    if (found.onset)
      section.say(fmt::format(
          "{}: quality degrades from a global batch of {:.0f} on: there by {} (one-sided tests by "
          "Welch against the smallest batch, p = {:.2g} by Holm).",
          series.name, found.onset->global_batch_size, supported(found.onset->worse_by, 0),
          found.onset->p));
    else
      section.say(fmt::format(
          "{}: no batch from which quality degrades was found in {} tests{}.", series.name,
          found.tested, found.tested == 0 ? ": that needs repeats at two batches or more" : ""));
  }
  if (any) return section.parts.emplace_back(figure), void();
  section.say(
      "No quality stands in these runs, so nothing is said about the batch from which it "
      "degrades.");
  page.not_supported.push_back(
      "Anything about quality: no error or loss stands in the runs that were given.");
}

}  // namespace

std::vector<Column> configuration_columns() {
  return {{"devices", "devices"},
          {"local batch", "local_batch_size"},
          {"global batch", "global_batch_size"},
          {"data set", "dataset_samples"},
          {"repeats", "repeats"}};
}

std::vector<Cell> configuration_cells(const Point& point) {
  return {{point.devices > 0 ? std::to_string(point.devices) : "-", "", anchor_of(point)},
          cell_of(point.local_batch),
          cell_of(point.global_batch),
          cell_of(point.data_set),
          repeats_cell(point)};
}

std::string regime_of(const std::vector<Point>& points) {
  if (points.size() < 2) return "one configuration";
  std::string words;
  if (constant(
          points, [](auto& p) { return p.data_set; }, 0))
    words = "constant data set";
  else if (constant(
               points,
               [](auto& p) {
                 return p.data_set ? std::optional(*p.data_set / p.devices) : std::nullopt;
               },
               0.001))
    words = "data set scaled with the devices";
  else
    words = "data set of several sizes";
  if (constant(
          points, [](auto& p) { return p.local_batch; }, 0))
    words += fmt::format(", local batch {:.0f}", *points.front().local_batch);
  if (constant(
          points, [](auto& p) { return p.global_batch; }, 0))
    words += fmt::format(", global batch {:.0f}", *points.front().global_batch);
  return words;
}

void add_scaling(const Request& request, Page& page) {
  Section section{.id = "scaling", .title = "1. How do time and energy scale with devices?"};
  const auto all = series_of(request.points);
  section.parts.emplace_back(figure_of(all, "wall-time", "Wall time", wall_minutes, "minutes"));
  section.parts.emplace_back(figure_of(all, "energy", "Energy", energy_kwh, "kWh"));
  for (std::size_t i = 0; i < all.size(); ++i) section.parts.emplace_back(table_of(all[i], i));
  add_quality(all, section, page);
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
