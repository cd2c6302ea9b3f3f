// parajoule measure: runs a command and tells what energy it took.

#include <iostream>
#include <memory>
#include <string_view>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/commands.h"
#include "cli/measure_options.h"
#include "cli/measure_output.h"
#include "cli/one_line.h"
#include "measure/measurement.h"

namespace parajoule::cli {
namespace {

int measure_command(const MeasureArguments& arguments) {
  const measure::Outcome outcome = measure::run(options_of(arguments));
  const auto say = [](const std::vector<std::string>& troubles) {
    for (const std::string& trouble : troubles)
      std::cerr << "parajoule: " << one_line(trouble) << '\n' << std::flush;
  };
  if (outcome.record) say(tell_measurement(*outcome.record, arguments));
  say(outcome.troubles);
  outcome.once_told();
  return outcome.status;
}

/// Whether the word behind `word` belongs to it. An unknown option is refused by whoever parses.
bool takes_a_value(const CLI::App& measure, std::string_view word) {
  const CLI::Option* option = measure.get_option_no_throw(std::string(word));
  return option && option->get_items_expected_max() > 0 && word.find('=') == word.npos;
}

}  // namespace

int words_before_command(const CLI::App& measure, int count, char** words) {
  for (int at = 2; at < count; ++at) {
    const std::string_view word = words[at];
    if (word == "--" || !word.starts_with('-')) return at;
    if (takes_a_value(measure, word)) ++at;
  }
  return count;
}

CLI::App& add_measure(CLI::App& app, Chosen& chosen, const std::vector<std::string>& command) {
  auto arguments = std::make_shared<MeasureArguments>();
  CLI::App* measure = app.add_subcommand("measure", "meter the energy of any command");
  add_options(*measure, *arguments);
  measure->footer(
      "parajoule measure [OPTIONS] -- COMMAND...\n"
      "The command keeps its terminal, its input and output, its signals and its exit status; a "
      "table on\nstandard error ends it. Under srun or mpirun each node is metered once.");
  measure->callback([arguments, &command, &chosen] {
    arguments->command = command;
    chosen = [arguments] { return measure_command(*arguments); };
  });
  return *measure;
}

}  // namespace parajoule::cli
