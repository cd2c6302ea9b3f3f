#pragma once

// The RAPL zones of a machine that can be read, and which of them hold which.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meter/kernel_file.h"
#include "meter/open.h"
#include "meter/rapl_zones.h"

namespace parajoule::meter {

/// A zone whose counter could be read.
struct Candidate {
  Zone zone;
  KernelFile file;
  std::uint64_t first;      ///< microjoules, when it was opened
  std::uint64_t last;       ///< the same, when it was last looked at
  std::string device = {};  ///< the zone's path, made unique
  std::optional<std::string> part_of = {};
};

/// Those that are alive, in the order of their zones. `opened` is told what cannot be read, what
/// stands still, and what has no meaning without another one.
std::vector<Candidate> rapl_candidates(const Options& options, Opened& opened);

/// `memory of cpu package 0, RAPL powercap (intel-rapl:0:1)`.
std::string titled(const Zone& zone);

}  // namespace parajoule::meter
