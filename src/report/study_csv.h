#pragma once

// Runs out of a CSV with the columns of published/resnet50_a100_runs.csv (docs/report.md).

#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "report/point.h"

namespace parajoule::report {

struct FromCsv {
  std::vector<Point> rows = {};
  std::vector<std::string> missing = {};  ///< what could not be used, each with its line and cause
};

/// Columns in any order; those it does not know are left alone. `energy_kwh_std` is the
/// population's deviation, as the study has it; `energy_kwh_sample_std` the sample's; so of
/// `device_hours` and `top1_error_percent`. A field that is no number is missing, and told. Throws
/// Error{input} if the file cannot be read or lacks `series`, `gpus` (or `devices`) or
/// `device_hours`.
FromCsv read_csv(const std::filesystem::path& file);

/// The same from text; `name` stands in errors and as what is behind each row.
FromCsv read_csv(std::istream& in, const std::string& name);

}  // namespace parajoule::report
