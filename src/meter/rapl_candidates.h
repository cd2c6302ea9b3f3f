#pragma once

// The counters of RAPL on a machine that can be read, and which of them hold which.

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/quantity.h"
#include "meter/kernel_file.h"
#include "meter/open.h"
#include "meter/rapl_zones.h"

namespace parajoule::meter {

/// A counter of energy, whatever it is read through.
class RaplCounter {
 public:
  virtual ~RaplCounter() = default;
  virtual std::variant<base::Joules, Failure> energy() = 0;
};

/// A zone whose counter could be read.
struct Candidate {
  Zone zone;
  std::unique_ptr<RaplCounter> counter;
  base::Joules first;                      ///< when it was opened
  base::Joules last;                       ///< when it was last looked at
  std::optional<base::Joules> range = {};  ///< that it never reaches; none: not known
  bool endless = false;                    ///< it passes no range
  std::string device = {};                 ///< the zone's path, made unique
  std::optional<std::string> part_of = {};
};

/// Those that are alive, powercap's before perf's, in the order of their zones. Of several that
/// show one counter each has the device of the first. `opened` is told what cannot be read, what
/// stands still, and what has no meaning without another one.
std::vector<Candidate> rapl_candidates(const Options& options, Opened& opened);

/// `memory of cpu package 0, RAPL powercap (intel-rapl:0:1)`.
std::string titled(const Zone& zone);

}  // namespace parajoule::meter
