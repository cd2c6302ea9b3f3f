#pragma once

// Runs for a report: out of records, folders of records, and tables.

#include <filesystem>
#include <string>
#include <vector>

#include "report/point.h"
#include "report/uses.h"
#include "store/reader.h"

namespace parajoule::cli {

struct ReportInput {
  std::vector<report::Point> rows = {};
  std::vector<report::Traced> traced = {};
  std::vector<std::string> missing = {};  ///< what could not be used, each with its cause
};

/// A row for each label (measured, modelled, simulated) that the record has an energy of; one
/// without energy if there is none. Says in `missing` why a run that did not end as done, or that
/// is a part of a longer training, is left out.
void add_record(const store::Reader& record, ReportInput& input);

/// A `.csv`, a record, or a folder: its records, and those of its folders. Records that cannot be
/// read are told in `missing`. Throws Error{input} for a path that is not there and for a CSV that
/// is none.
void add_path(const std::filesystem::path& path, ReportInput& input);

/// Keeps the rows of one label where runs have several: what is measured before what is modelled
/// before what is simulated; tells which runs have none of it. Rows of tables stay.
void keep_one_label(ReportInput& input);

}  // namespace parajoule::cli
