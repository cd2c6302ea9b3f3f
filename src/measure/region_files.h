#pragma once

// Where programs tell the beginnings and ends of named regions: a folder whose name they find in
// PARAJOULE_REGIONS. Each process appends to a file of its own there,
//
//   B <id> <seconds> <name>     a region begins
//   E <id> <seconds>            and ends
//
// with seconds of CLOCK_MONOTONIC, and in the name every byte that is not plain as %XX. `id` tells
// regions of one process apart that are open at the same time. The last line may be torn.

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "store/rows.h"

namespace parajoule::measure {

/// Regions of one file, in the order of their beginnings, with moments of CLOCK_MONOTONIC. `rank`
/// is the number of the process. One that was not ended ends at `last`.
struct ToldRegions {
  std::vector<store::Phase> phases;
  int open = 0;     ///< were not ended
  int misread = 0;  ///< lines that are none of these
};
ToldRegions regions_in(std::string_view text, int rank, base::Seconds last);

/// The folder, which is gone with its owner; one whose owner was killed goes with the next one.
class RegionFiles {
 public:
  /// In `memory`, or among temporary files; without any, programs find no variable.
  static RegionFiles make(const std::filesystem::path& memory = "/dev/shm");
  /// In a folder that is to be made, and goes with its owner too.
  static RegionFiles in(const std::filesystem::path& folder);
  RegionFiles() = default;
  ~RegionFiles();
  RegionFiles(RegionFiles&& other) noexcept;
  RegionFiles& operator=(RegionFiles&& other) noexcept;

  /// For the command.
  std::map<std::string, std::string> environment() const;

  /// Everything that was told, with moments since `start`.
  std::vector<store::Phase> phases(std::chrono::steady_clock::time_point start);

  /// What of it was odd.
  const std::vector<std::string>& troubles() const { return troubles_; }

 private:
  std::filesystem::path folder_;
  int lock_ = -1;  ///< of the folder
  std::vector<std::string> troubles_;
};

}  // namespace parajoule::measure
