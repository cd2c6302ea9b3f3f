#pragma once

// The file in which this process tells `parajoule measure` of its regions: one in the folder that
// PARAJOULE_REGIONS names. Its lines are
//
//   B <id> <seconds> <name>     a region begins
//   E <id> <seconds>            and ends
//
// with seconds of CLOCK_MONOTONIC and in the name every byte that is not plain as %XX.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.h"

namespace parajoule::inside {

/// `name` in letters, digits and `-._~`, all other bytes as %XX.
std::string percent_encoded(std::string_view name);

class RegionFile {
 public:
  /// None if no file can be made there: whoever measured may be gone.
  static std::optional<RegionFile> make(const std::filesystem::path& folder);
  ~RegionFile();
  RegionFile(RegionFile&& other) noexcept;
  RegionFile& operator=(RegionFile&& other) noexcept;

  /// Each is one write, so that lines of threads do not mix. False if it did not go well.
  bool begin(std::uint64_t id, base::Seconds at, std::string_view name) const;
  bool end(std::uint64_t id, base::Seconds at) const;

 private:
  explicit RegionFile(int descriptor) : descriptor_(descriptor) {}
  bool write(const std::string& line) const;

  int descriptor_;
};

}  // namespace parajoule::inside
