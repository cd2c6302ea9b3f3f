// parajoule report: a page of a study, from records and tables of runs alone.

#include <iostream>
#include <memory>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/one_line.h"
#include "cli/report_input.h"
#include "report/study_page.h"
#include "report/write_page.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  std::vector<std::string> inputs;
  std::string to = "report";
  report::Assumptions assumed = {};
  double bias = 0;
  bool population = false;
};

report::Request request_of(const Arguments& arguments) {
  ReportInput input;
  for (const std::string& path : arguments.inputs) add_path(path, input);
  if (input.rows.empty())
    throw base::Error(base::Fault::input,
                      input.missing.empty()
                          ? "there are no runs in what was given: nothing to report"
                          : fmt::format("nothing to report: {}{}", input.missing.front(),
                                        input.missing.size() > 1 ? "; and others" : ""));
  keep_one_label(input);
  for (report::Point& row : input.rows)
    if (!row.bias && arguments.bias > 0) row.bias = arguments.bias;
  return {.points = report::grouped(input.rows),
          .missing = std::move(input.missing),
          .traced = std::move(input.traced),
          .assumed = arguments.assumed,
          .population = arguments.population};
}

int make(const Arguments& arguments) {
  report::Request request = request_of(arguments);
  const std::size_t missing = request.missing.size(), count = request.points.size();
  report::Page page = report::study_page(std::move(request));
  const std::string left_out = report::write_page(page, arguments.to);
  std::cout << fmt::format("{} configurations: {}/index.html\n", count, arguments.to);
  if (missing > 0)
    std::cout << fmt::format("{} things could not be used; section 9 of the page names them\n",
                             missing);
  if (!left_out.empty()) std::cerr << fmt::format("parajoule: {}\n", one_line(left_out));
  return 0;
}

/// LOW:HIGH.
void add_band(CLI::App& app, const std::string& name, report::Band& band, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&band, name](const std::string& text) {
           const std::size_t colon = text.find(':');
           char* end = nullptr;
           const double low = std::strtod(text.c_str(), &end);
           const bool first = colon != std::string::npos && end == text.c_str() + colon;
           const double high = first ? std::strtod(text.c_str() + colon + 1, &end) : 0;
           if (!first || end != text.c_str() + text.size() || !(low >= 0) || !(high >= low))
             throw base::Error(
                 base::Fault::usage,
                 fmt::format("{} takes LOW:HIGH, two numbers from 0 on, not '{}'", name, text));
           band = {low, high};
         },
         help)
      ->type_name("LOW:HIGH");
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("report", "figures and tables of a study, as one page");
  command
      ->add_option("inputs", arguments->inputs,
                   "records, folders of records, CSV of runs (docs/report.md)")
      ->required()
      ->type_name("PATH...");
  command->add_option("-o,--to", arguments->to, "folder of the page (default: report)")
      ->type_name("DIR");
  command
      ->add_option("--devices-per-node", arguments->assumed.devices_per_node,
                   "of inputs that do not say (default: 4)")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N");
  command
      ->add_option("--bias", arguments->bias,
                   "of the sensors, relative, of inputs that do not say: 0.057")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("X");
  command->add_flag("--population-deviation", arguments->population,
                    "show deviations over n, as the study does, not over n - 1");
  add_band(*command, "--node-watts", arguments->assumed.node_watts,
           "a node's network, board, disks, fans (default: 0:110)");
  add_band(*command, "--supply-loss", arguments->assumed.supply_loss,
           "of power supplies (default: 0.04:0.10)");
  add_band(*command, "--cooling", arguments->assumed.cooling,
           "energy of the building over its machines' (default: 1.05:1.5)");
  command->callback([&chosen, arguments] { chosen = [arguments] { return make(*arguments); }; });
}

}  // namespace parajoule::cli
