#pragma once

// A record in the layout of perun's HDF5 files (perun 0.9, `perun export`), for those who have
// scripts for it: application, run, node, kind of device, sensor, each with its numbers.

#include <filesystem>
#include <string>

#include "store/reader.h"

namespace parajoule::cli {

/// Raw readings of every source as they are in the record, gaps left out; energy and mean power of
/// each; energy, mean power and run time of nodes and run, which are of what was measured alone:
/// perun has no place for a label, so what was modelled stands in no sum, and is called so in the
/// sensor's attributes. Regions of a metered command with the times of each process.
/// Throws Error{environment} if there is no HDF5 library or the file cannot be written.
void write_perun(const store::Reader& record, const std::filesystem::path& file,
                 const std::string& library = "");

}  // namespace parajoule::cli
