// parajoule sensors: every meter of this machine, and whether it works.

#include <algorithm>
#include <iostream>
#include <memory>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/energy_text.h"
#include "cli/exit_status.h"
#include "cli/live.h"
#include "cli/other_meters.h"
#include "cli/sensors_text.h"

namespace parajoule::cli {
namespace {

struct Arguments {
  double seconds = 1;
  bool json = false;
  bool all = false;
  OtherMeters meters;
};

/// For later runs; a home that cannot be written is told and keeps nobody from looking.
void keep_periods(const Sensed& found) {
  const std::filesystem::path file = periods_file();
  const std::vector<meter::FoundPeriod> periods = periods_of(found);
  if (file.empty() || periods.empty()) return;
  try {
    meter::keep_found_periods(file, periods);
  } catch (const base::Error& error) {
    std::cerr << fmt::format("parajoule: the update periods found are not kept: {}\n",
                             error.what());
  }
}

int show(const Arguments& arguments) {
  constexpr std::size_t fewest_columns = 40;
  const Sensed found =
      sensed(named_meters(arguments.meters).sources, base::Seconds(arguments.seconds));
  keep_periods(found);
  if (arguments.json) {
    std::cout << sensors_json(found);
    return done;
  }
  const std::size_t columns = standard_output().columns().value_or(most_columns);
  std::cout << sensors_text(found, std::clamp(columns, fewest_columns, most_columns),
                            look_of(STDOUT_FILENO), arguments.all);
  return done;
}

}  // namespace

void add_sensors(CLI::App& app, Chosen& chosen) {
  CLI::App* command =
      app.add_subcommand("sensors", "every meter of this machine, and whether it works");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("--seconds", arguments->seconds,
                   "how long to watch them: what is seen of slow ones needs more (default: 1)")
      ->check(CLI::Range(0.0, 3600.0).description(""))
      ->type_name("N");
  command->add_flag("--all", arguments->all, "temperatures, clocks and the like in full as well");
  command->add_flag("--json", arguments->json, "for programs");
  add_other_meters(*command, arguments->meters, WallFiles::none);
  command->callback([&chosen, arguments] { chosen = [arguments] { return show(*arguments); }; });
}

}  // namespace parajoule::cli
