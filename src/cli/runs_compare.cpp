// parajoule runs compare: is the second set of runs worse than the first?

#include "cli/runs_compare.h"

#include <filesystem>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/report_input.h"
#include "cli/runs.h"
#include "cli/table.h"
#include "report/comparison.h"
#include "store/folder.h"

namespace parajoule::cli {
namespace {

using report::Comparison;
using report::Judgement;
using report::Point;

std::vector<Point> side_of(const std::string& records, const std::string& side) {
  ReportInput input;
  if (std::filesystem::exists(side))
    add_path(side, input);
  else
    add_path(store::find_record(records_folder(records), side), input);
  for (const std::string& line : input.missing)
    std::cerr << fmt::format("parajoule: {}\n", shown(line));
  if (input.rows.empty())
    throw base::Error(base::Fault::input, fmt::format("there are no runs in '{}'", side));
  keep_one_label(input);
  return report::grouped(input.rows);
}

std::string change_text(const Comparison& comparison) {
  if (!comparison.change_percent) return "-";
  if (!comparison.half_width) return fmt::format("{:+.2f} %", *comparison.change_percent);
  return fmt::format("{:+.2f} ± {:.2f} %", *comparison.change_percent, *comparison.half_width);
}

std::string judgement_text(const Comparison& comparison, Judgement judgement) {
  if (judgement == Judgement::worse) return "worse";
  if (judgement == Judgement::within) return "within the limit";
  if (comparison.configurations == 0)
    return "cannot tell: no configuration with that number on both sides";
  if (!comparison.half_width)
    return "cannot tell: that takes repeats on both sides, or several configurations";
  return "cannot tell: the interval reaches over the limit";
}

}  // namespace

int compare_runs(const std::string& records, const std::vector<std::string>& sides,
                 const std::vector<std::string>& limits) {
  std::vector<report::Limit> asked;
  for (const std::string& text : limits) asked.push_back(report::limit_of(text));
  const auto first = side_of(records, sides.at(0)), second = side_of(records, sides.at(1));
  Table table({{"of"},
               {"configurations", Table::Align::right},
               {"repeats", Table::Align::right},
               {"second against first", Table::Align::right}});
  for (const std::string_view name : report::compared_quantities()) {
    const Comparison found = report::compared(first, second, name);
    table.add({std::string(name), std::to_string(found.configurations),
               std::to_string(found.repeats), change_text(found)});
  }
  std::cout << table.text(look_of(STDOUT_FILENO));
  int status = done;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const Comparison found = report::compared(first, second, asked[i].quantity);
    const Judgement judgement = report::judged(found, asked[i]);
    std::cout << fmt::format("{}: {}\n", limits[i], judgement_text(found, judgement));
    if (judgement == Judgement::worse) status = worse;
    if (judgement == Judgement::unknown && status == done) status = cannot_tell;
  }
  return status;
}

}  // namespace parajoule::cli
