#pragma once

// The numbers of a measured command for other programs. Their form is a promise:
// docs/measure.schema.json.

#include <filesystem>
#include <string>

#include "cli/measure_text.h"
#include "measure/account.h"

namespace parajoule::cli {

/// One JSON object, indented, with a newline at its end. What is not a number is null.
std::string measure_json(const measure::Account& account, const Conversions& conversions,
                         const std::filesystem::path& record);

}  // namespace parajoule::cli
