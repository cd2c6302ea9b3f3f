// Hardware against hardware, on equal configurations.

#include <cmath>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/difference.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

bool equal_work(const Point& a, const Point& b) {
  return a.devices == b.devices && a.local_batch == b.local_batch &&
         a.global_batch == b.global_batch && a.data_set == b.data_set && a.epochs == b.epochs &&
         a.label == b.label;
}

struct Quantity {
  const char* name;
  const char* csv;
  std::optional<Derived> (*number)(const Point&);
};
constexpr Quantity quantities[] = {{"wall time, min", "wall_minutes", wall_minutes},
                                   {"device hours", "device_hours", device_hours},
                                   {"energy, kWh", "energy_kwh", energy_kwh}};

/// Sensors of two types each have their bias, which no repeat shows.
double bias_of_difference(const Point& a, const Point& b, const Quantity& quantity, double first,
                          double second) {
  if (quantity.number != energy_kwh) return 0;
  return std::hypot(first * a.bias.value_or(0), second * b.bias.value_or(0));
}

void add_row(Table& table, const Point& a, const Point& b, const Quantity& quantity) {
  const auto first = quantity.number(a), second = quantity.number(b);
  if (!first || !second) return;
  const auto found = difference({first->value, first->deviation, a.repeats},
                                {second->value, second->deviation, b.repeats});
  const double percent = 100 / first->value;
  const double bias = bias_of_difference(a, b, quantity, first->value, second->value);
  std::vector<Cell> cells = {{fmt::format("{} → {}", a.hardware, b.hardware)},
                             {name_of(a), "", anchor_of(a)},
                             {quantity.name},
                             cell_of(first),
                             cell_of(second),
                             {fmt::format("{:+.2f}", percent * (second->value - first->value))}};
  if (found) {
    cells.back().spread = fmt::format("{:.2f}", percent * found->half_width);
    cells.push_back({fmt::format("{:.4f}", found->p)});
    cells.push_back({fmt::format("{:.2f}", percent * detectable(*found))});
  } else {
    cells.insert(cells.end(), {{"-"}, {"-"}});
  }
  const bool within_bias = std::fabs(second->value - first->value) < bias;
  cells.push_back({!found                      ? "no repeats: no test †"
                   : !found->distinguishable() ? "not distinguishable"
                   : within_bias               ? "repeats differ; within the sensors' bias"
                                               : "different"});
  table.rows.push_back(std::move(cells));
}

}  // namespace

void add_hardware(const Request& request, Page& page) {
  Section section{.id = "hardware", .title = "6. Does other hardware take less time or energy?"};
  Table table{.id = "hardware",
              .title = "Equal configurations on different hardware",
              .columns = {{"hardware", "hardware"},
                          {"devices × local batch", "configuration"},
                          {"of", "quantity"},
                          {"first", "first", true},
                          {"second", "second", true},
                          {"difference, %", "difference_percent", true},
                          {"p", "p"},
                          {"found 4 times in 5, %", "detectable_percent"},
                          {"verdict", "verdict"}}};
  const auto once = distinct(request.points);
  for (std::size_t i = 0; i < once.size(); ++i)
    for (std::size_t j = i + 1; j < once.size(); ++j)
      if (once[i].hardware != once[j].hardware && equal_work(once[i], once[j]))
        for (const Quantity& quantity : quantities) add_row(table, once[i], once[j], quantity);
  table.notes = {
      "Welch's test at 5 %, two-sided, each row for itself. `Found 4 times in 5`: the "
      "smallest difference such repeats find with a power of 80 %. Energies of different "
      "sensors also differ by their biases."};
  if (table.rows.empty()) {
    section.say(
        "No configuration was run on two kinds of hardware, so there is nothing to "
        "compare.");
    page.not_supported.push_back(
        "Any comparison of hardware: no configuration was run on two "
        "kinds.");
  } else {
    section.parts.emplace_back(std::move(table));
  }
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
