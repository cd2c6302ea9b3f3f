// What the page is made of: the records behind each row, what was missing, what is preliminary.

#include <algorithm>

#include <fmt/format.h>

#include "report/sections.h"

namespace parajoule::report {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Table behind(const Request& request) {
  Table table{
      .id = "behind", .title = "The records behind each row", .columns = {{"series", "series"}}};
  for (const Column& column : configuration_columns()) table.columns.push_back(column);
  for (const Column& column : std::vector<Column>{
           {"hardware", "hardware"}, {"label", "label"}, {"seeds", "seeds"}, {"from", "records"}})
    table.columns.push_back(column);
  for (const Point& point : request.points) {
    std::vector<Cell> cells = {{.text = point.series, .anchor = anchor_of(point)}};
    for (Cell& cell : configuration_cells(point)) cells.push_back(std::move(cell));
    for (Cell& cell : cells) cell.link.clear();
    cells.push_back({point.hardware.empty() ? "-" : point.hardware});
    cells.push_back({point.label});
    cells.push_back({point.seeds.empty() ? "-" : joined(point.seeds)});
    cells.push_back({joined(point.behind)});
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "† a single run: preliminary, wherever it stands. Repeats with one seed show the "
      "scatter of the hardware, with several that of the training too."};
  return table;
}

}  // namespace

void add_inputs(const Request& request, Page& page) {
  Section section{.id = "inputs", .title = "9. What is this made of?"};
  const auto single = std::ranges::count_if(request.points, &Point::preliminary);
  if (single > 0) {
    const std::string told = fmt::format(
        "{} of {} configurations were run once and are preliminary: they have no interval, and no "
        "test uses them.",
        single, request.points.size());
    section.say(told);
    page.not_supported.push_back(told);
  }
  if (request.traced.empty())
    section.say(
        "No power readings stand in these inputs, so there are no power profiles "
        "(section 4) and no table of where the energy went.");
  section.parts.emplace_back(behind(request));
  if (!request.missing.empty()) {
    Table table{
        .id = "missing", .title = "What could not be used", .columns = {{"what and why", "cause"}}};
    for (const std::string& line : request.missing) table.rows.push_back({{line}});
    section.parts.emplace_back(std::move(table));
  }
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
