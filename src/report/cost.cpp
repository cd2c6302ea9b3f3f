// Energy for what one wants: a sample, a pass, an epoch, a quality; and what no other run beats.

#include <algorithm>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

bool same_task(const Point& a, const Point& b) {
  return a.data_set && a.data_set == b.data_set && a.epochs == b.epochs && a.label == b.label &&
         a.error_name == b.error_name;
}

/// Whether `a` is at least as good in all and better in one. A quality that is missing is equal.
bool beats(const Point& a, const Point& b) {
  const double times[] = {*a.wall_hours(), *b.wall_hours()};
  const double energies[] = {a.energy_kwh->mean, b.energy_kwh->mean};
  const bool quality = a.error && b.error;
  const double errors[] = {quality ? a.error->mean : 0, quality ? b.error->mean : 0};
  if (times[0] > times[1] || energies[0] > energies[1] || errors[0] > errors[1]) return false;
  return times[0] < times[1] || energies[0] < energies[1] || errors[0] < errors[1];
}

bool complete(const Point& point) { return point.energy_kwh && point.wall_hours(); }

std::string standing(const Point& point, const std::vector<Point>& all) {
  if (!complete(point) || !point.data_set) return "-";
  int others = 0;
  for (const Point& other : all) {
    if (&other == &point || !complete(other) || !same_task(point, other)) continue;
    ++others;
    if (beats(other, point)) return "beaten by " + name_of(other);
  }
  return others == 0 ? "alone" : "on the front";
}

Figure front_of(const std::vector<Point>& once) {
  Figure figure{.id = "front",
                .title = "Time and energy of equal work",
                .x = "wall time, min",
                .y = "kWh",
                .log_x = true,
                .log_y = true};
  std::vector<double> sizes;
  for (const Point& point : once)
    if (complete(point) && point.data_set) sizes.push_back(*point.data_set);
  std::ranges::sort(sizes);
  // Sizes with one configuration have no front.
  std::vector<double> shared;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i] == sizes[i - 1] && (shared.empty() || shared.back() != sizes[i]))
      shared.push_back(sizes[i]);
  for (const double size : shared) {
    Curve curve{.name = fmt::format("{} samples", count_text(size)), .marks = {}};
    for (const Point& point : once)
      if (complete(point) && point.data_set == size) {
        const auto energy = energy_kwh(point);
        curve.marks.push_back(
            {wall_minutes(point)->value, energy->value, energy->half_width.value_or(0)});
      }
    figure.curves.push_back(std::move(curve));
  }
  figure.note = "Data sets that more than one configuration was trained on.";
  return figure;
}

}  // namespace

void add_cost(const Request& request, Page& page) {
  Section section{.id = "cost", .title = "8. What does a result cost, and which runs are best?"};
  const auto once = distinct(request.points);
  Table table{
      .id = "cost", .title = "Energy for what one wants", .columns = {{"series", "series"}}};
  for (const Column& column : configuration_columns()) table.columns.push_back(column);
  for (const Column& column :
       std::vector<Column>{{"Wh per 1000 samples", "wh_per_1000_samples", true},
                           {"J a pass", "joules_per_pass", true},
                           {"Wh an epoch", "wh_per_epoch", true},
                           {"energy × delay, kWh h", "kwh_hours", true},
                           {"among equal work", "standing"}})
    table.columns.push_back(column);
  for (const Point& point : once) {
    std::vector<Cell> cells = {{point.series}};
    for (Cell& cell : configuration_cells(point)) cells.push_back(std::move(cell));
    cells.push_back(cell_of(wh_per_1000_samples(point)));
    cells.push_back(cell_of(point.passes ? derived(point, 3.6e6 / *point.passes, {1, 0})
                                         : std::optional<Derived>()));
    cells.push_back(cell_of(point.epochs ? derived(point, 1000 / *point.epochs, {1, 0})
                                         : std::optional<Derived>()));
    cells.push_back(cell_of(energy_delay(point)));
    cells.push_back({standing(point, once)});
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "Among equal work (same data set, epochs and label): on the front is what no other run beats "
      "in "
      "time, energy and, where it is known, quality. Names are devices × local batch. Samples and "
      "passes are those of training; evaluation is in the energy all the same."};
  section.parts.emplace_back(front_of(once));
  section.parts.emplace_back(std::move(table));
  if (std::ranges::none_of(once, [](auto& point) { return bool(point.error); }))
    section.say("Energy to a target quality takes runs with a quality.");
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
