#pragma once

// Standard input, output and error of a command.

namespace parajoule::cli {

/// Those that whoever started us has closed lead nowhere from now on: else the next file that is
/// opened would be taken for one of them, and written to.
void open_missing_streams();

/// `status`, unless it says that all went well and what went to standard output did not get there:
/// then says so, and gives another.
int with_output_written(int status);

}  // namespace parajoule::cli
