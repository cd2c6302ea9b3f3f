#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measure_options.h"

namespace parajoule::cli {

/// Tells what the record of a command says, in all the ways that were asked for. What could not be
/// written: a line each, that names the file.
std::vector<std::string> tell_measurement(const std::filesystem::path& record,
                                          const MeasureArguments& arguments);

}  // namespace parajoule::cli
