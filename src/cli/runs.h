#pragma once

// What the records of runs say, for `parajoule runs`.

#include <filesystem>
#include <span>
#include <string>

#include "cli/table.h"

namespace parajoule::cli {

/// The folder of records: `given` on the command line, else PARAJOULE_RECORDS, else `records`.
std::filesystem::path records_folder(const std::string& given);

/// The summary of the record `file`, with the command that shows it again. Throws Error{input} as
/// `store::Reader` does.
std::string run_text(const std::filesystem::path& file, Look look);

/// One line a run, in the order given, in as many `columns` and 100 at most; then what could not be
/// read, each with the reason.
std::string list_text(std::span<const std::filesystem::path> records, Look look,
                      std::size_t columns);

}  // namespace parajoule::cli
