#pragma once

// The options of `parajoule measure`.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/App.hpp>

#include "base/quantity.h"
#include "cli/measure_text.h"
#include "cli/other_meters.h"
#include "measure/measurement.h"

namespace parajoule::cli {

struct MeasureArguments {
  std::vector<std::string> command;
  std::string rate = "10hz";
  std::string idle = "0s";
  std::string records;
  std::string name;
  std::string output;
  std::string json;
  std::string csv;
  std::string prometheus;
  bool quiet = false;
  Conversions conversions = {};
  OtherMeters meters = {};
};

void add_options(CLI::App& app, MeasureArguments& arguments);

/// Throws Error{usage} that names the option.
measure::Measurement options_of(const MeasureArguments& arguments);

/// 10, 10hz: times a second, above 0 up to 1000. Throws Error{usage}.
double rate_in(std::string_view text);

/// 10, 10s, 500ms, 2min. Throws Error{usage}.
base::Seconds duration_in(std::string_view text);

/// Words as a shell would take them: those with anything but plain signs in quotes.
std::string as_typed(const std::vector<std::string>& words);

}  // namespace parajoule::cli
