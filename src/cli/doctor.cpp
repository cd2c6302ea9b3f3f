// parajoule doctor: is this machine set up right, and the one line that mends what is not.

#include "cli/doctor.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/energy_text.h"
#include "cli/exit_status.h"
#include "cli/live.h"
#include "cli/one_line.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  bool admin = false;
  bool json = false;
};

void say_what_is_waited_for(const Command& command, base::Seconds limit) {
  std::cerr << fmt::format("parajoule: waiting for `{}`, for {:.0f} s at most\n",
                           one_line(fmt::format("{}", fmt::join(command.words, " "))),
                           limit.count())
            << std::flush;
}

int examine(const Arguments& arguments) {
  constexpr std::size_t fewest_columns = 40;
  const Patient patient = this_machine(say_what_is_waited_for);
  if (arguments.admin) {
    const auto lines = admin_lines(patient);
    std::cout << (arguments.json ? admin_json(lines) : admin_text(lines));
    return done;
  }
  const Findings findings = examined(patient);
  const std::size_t columns = standard_output().columns().value_or(most_columns);
  std::cout << (arguments.json
                    ? doctor_json(findings)
                    : doctor_text(findings, std::clamp(columns, fewest_columns, most_columns),
                                  look_of(STDOUT_FILENO)));
  const bool wrong = std::ranges::count(findings, Finding::State::wrong, &Finding::state) > 0;
  return wrong ? no_environment : done;
}

}  // namespace

void add_doctor(CLI::App& app, Chosen& chosen) {
  CLI::App* command = app.add_subcommand(
      "doctor", "is this machine set up right; the one line that mends what is not");
  const auto arguments = std::make_shared<Arguments>();
  command->add_flag("--admin", arguments->admin,
                    "print the lines that an administrator runs once to open the meters");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([&chosen, arguments] { chosen = [arguments] { return examine(*arguments); }; });
}

}  // namespace parajoule::cli
