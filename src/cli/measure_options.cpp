#include "cli/measure_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/measure_parts.h"
#include "cli/runs.h"

namespace parajoule::cli {
namespace {

/// A number and the word behind it in small letters.
struct Amount {
  double number;
  std::string unit;
};

std::optional<Amount> amount_in(std::string_view text) {
  Amount amount{};
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, amount.number);
  if (error != std::errc()) return {};
  for (const char* sign = rest; sign != end; ++sign)
    if (*sign != ' ') amount.unit += char(std::tolower(static_cast<unsigned char>(*sign)));
  return amount;
}

base::Error refused(std::string_view option, std::string_view text, std::string_view expected) {
  return {base::Fault::usage, fmt::format("{} {}: {}", option, text, expected)};
}

void require_positive(std::string_view option, const std::optional<double>& value, double least) {
  if (value && !(*value >= least && *value < 1e9))
    throw refused(option, fmt::format("{}", *value), fmt::format("not {} or more", least));
}

void set(store::Setting& setting, std::string key, std::string value, bool given) {
  setting = {std::move(key), std::move(value), given ? "command line" : "default"};
}

}  // namespace

void add_options(CLI::App& app, MeasureArguments& arguments) {
  const auto add = [&](const char* option, std::string& to, const char* type, const char* help) {
    app.add_option(option, to, help)->type_name(type);
  };
  add("--rate", arguments.rate, "RATE", "readings a second, to 1000hz (default: 10hz)");
  add("--idle", arguments.idle, "TIME",
      "meter the machine for so long before the command starts, and tell the energy above that");
  const auto add_file = [&](const char* option, std::string& to, const char* help) {
    app.add_option(option, to, help)->type_name("FILE")->check([](const std::string& file) {
      return file.empty() ? std::string("a file needs a name") : std::string();
    });
  };
  add_file("--output", arguments.output, "write the table there instead of to standard error");
  add_file("--json", arguments.json, "write the numbers there");
  add_file("--csv", arguments.csv, "append a row for each device there");
  add_file("--prometheus", arguments.prometheus,
           "write counters in joules there, for node_exporter's textfile collector");
  app.add_flag("--quiet", arguments.quiet, "no table");
  add("--name", arguments.name, "NAME", "of the record (default: the program's)");
  add("--records", arguments.records, "DIR",
      "folder of the records (default: PARAJOULE_RECORDS, else records)");
  const auto convert = [&](const char* option, std::optional<double>& to, const char* type,
                           const char* help) { app.add_option(option, to, help)->type_name(type); };
  convert("--pue", arguments.conversions.pue, "RATIO",
          "also tell the energies times this, on a line of its own");
  convert("--carbon", arguments.conversions.carbon, "G", "also tell CO2, at so many grams a kWh");
  convert("--price", arguments.conversions.price, "MONEY", "also tell the cost, at so much a kWh");
  add_other_meters(app, arguments.meters, WallFiles::taken);
}

double rate_in(std::string_view text) {
  const auto amount = amount_in(text);
  if (!amount || (amount->unit != "" && amount->unit != "hz") ||
      !(amount->number > 0 && amount->number <= 1000))
    throw refused("--rate", text, "not a rate above 0 up to 1000hz, such as 10hz");
  return amount->number;
}

base::Seconds duration_in(std::string_view text) {
  const auto amount = amount_in(text);
  const double seconds = !amount                                        ? -1
                         : amount->unit == "" || amount->unit == "s"    ? amount->number
                         : amount->unit == "ms"                         ? amount->number / 1000
                         : amount->unit == "min" || amount->unit == "m" ? amount->number * 60
                                                                        : -1;
  if (!(seconds >= 0 && seconds <= 86400))
    throw refused("--idle", text, "not a time up to a day, such as 10s, 500ms or 2min");
  return base::Seconds(seconds);
}

std::string as_typed(const std::vector<std::string>& words) {
  constexpr std::string_view plain = "_-+=:,./@%^";
  std::string text;
  for (const std::string& word : words) {
    const bool bare = !word.empty() && std::ranges::all_of(word, [&](char sign) {
      return std::isalnum(static_cast<unsigned char>(sign)) || plain.find(sign) != plain.npos;
    });
    std::string quoted = "'";
    for (const char sign : word)
      quoted += sign == '\'' ? std::string("'\\''") : std::string(1, sign);
    text += (text.empty() ? "" : " ") + (bare ? word : quoted + "'");
  }
  return text;
}

measure::Measurement options_of(const MeasureArguments& arguments) {
  if (arguments.command.empty())
    throw base::Error(base::Fault::usage,
                      "measure needs a command: parajoule measure [options] -- COMMAND...");
  require_positive("--pue", arguments.conversions.pue, 1);
  require_positive("--carbon", arguments.conversions.carbon, 0);
  require_positive("--price", arguments.conversions.price, 0);
  measure::Measurement measurement{.command = arguments.command};
  measurement.idle = duration_in(arguments.idle);
  measurement.meter.hertz = rate_in(arguments.rate);
  NamedMeters named = named_meters(arguments.meters);
  measurement.meter.sources = std::move(named.sources);
  measurement.meter.wall = std::move(named.wall);
  const std::string program = std::filesystem::path(arguments.command[0]).filename();
  measurement.meter.record = {.folder = records_folder(arguments.records),
                              .name = arguments.name.empty() ? program : arguments.name,
                              .kind = store::Kind::measure,
                              .version = PARAJOULE_VERSION,
                              .command = as_typed(arguments.command)};
  measurement.meter.settings.resize(2);
  set(measurement.meter.settings[0], "sampling_hertz", fmt::format("{}", measurement.meter.hertz),
      arguments.rate != MeasureArguments().rate);
  set(measurement.meter.settings[1], "idle_seconds", fmt::format("{}", measurement.idle.count()),
      measurement.idle > base::Seconds(0));
  for (store::Setting& setting : settings_of(arguments.conversions))
    measurement.meter.settings.push_back(std::move(setting));
  return measurement;
}

}  // namespace parajoule::cli
