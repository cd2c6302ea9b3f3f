// parajoule: the commands that need neither torch nor MPI, and the launcher of those that do.

#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/cause.h"
#include "cli/commands.h"
#include "cli/exit_status.h"
#include "cli/one_line.h"
#include "cli/standard_streams.h"

namespace {

using namespace parajoule;

/// CLI11 would only say that a command is missing.
void refuse_unknown_command(const CLI::App& app, std::string_view word) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (word.starts_with('-') || std::ranges::find(names, word) != names.end()) return;
  const std::vector<std::string_view> known(names.begin(), names.end());
  throw base::Error(base::Fault::usage,
                    fmt::format("no command '{}'{}", base::shown(word), base::hint(word, known)));
}

/// The option that was meant by the first word that is none; CLI11 only repeats the word.
std::string meant_option(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& word : app.remaining(true)) {
    if (!word.starts_with("--")) continue;
    if (const auto meant = base::nearest(word.substr(0, word.find('=')), known))
      return fmt::format("; did you mean '{}'?", *meant);
  }
  return {};
}

/// Fills `chosen`, or gives the status to end with at once.
std::optional<int> parse(int count, char** words, cli::Chosen& chosen) {
  CLI::App app("Trains neural networks in parallel and meters the energy of every device.",
               "parajoule");
  app.set_version_flag("--version", "parajoule " PARAJOULE_VERSION);
  app.require_subcommand(1);
  for (const auto add :
       {cli::add_train, cli::add_rehearse, cli::add_models, cli::add_data, cli::add_runs,
        cli::add_report, cli::add_sensors, cli::add_doctor, cli::add_serve, cli::add_trace,
        cli::add_strategies, cli::add_sums, cli::add_optimizers}) {
    add(app, chosen);
  }
  std::vector<std::string> command;
  const CLI::App& measure = cli::add_measure(app, chosen, command);
  int own = count;
  if (count > 1 && words[1] == measure.get_name()) {
    own = cli::words_before_command(measure, count, words);
    const bool separated = own < count && words[own] == std::string_view("--");
    command.assign(words + own + (separated ? 1 : 0), words + count);
  }
  refuse_unknown_command(app, count > 1 ? words[1] : "-");
  try {
    app.parse(own, words);
    return {};
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    std::cerr << "parajoule: " << base::shown(error.what(), 300) << meant_option(app)
              << "; see `parajoule --help`\n";
    return int(cli::wrong_usage);
  }
}

}  // namespace

int main(int count, char** words) {
  cli::open_missing_streams();
  try {
    cli::Chosen chosen;
    const auto status = parse(count, words, chosen);
    return cli::with_output_written(status ? *status : chosen());
  } catch (...) {
    return cli::tell_failure(std::current_exception());
  }
}
