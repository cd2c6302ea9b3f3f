#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/measure_options.h"
#include "measure/account.h"

namespace parajoule::cli {

/// Tells what the record of a command says, in all the ways that were asked for. What could not be
/// written: a line each, that names the file.
std::vector<std::string> tell_measurement(const std::filesystem::path& record,
                                          const MeasureArguments& arguments);

/// Adds rows of CSV behind those of others, and the names of the columns to an empty file: whole,
/// whoever writes at the same moment. Throws Error{environment} that names the file.
void append_rows(const std::string& file, const measure::Account& account);

}  // namespace parajoule::cli
