#pragma once

// The power of a whole node as its management controller tells it: IPMI, "data center manageability
// interface" (DCMI 1.5, 6.6.1).

#include <cstdint>
#include <span>
#include <variant>

#include "base/quantity.h"
#include "meter/ipmi.h"
#include "meter/open.h"

namespace parajoule::meter {

/// The answer to "get power reading", mode "system power statistics".
struct DcmiPower {
  base::Watts now;
  base::Watts lowest;  ///< this and the next two since the controller began its statistics
  base::Watts highest;
  base::Watts mean;
  std::uint32_t seconds;     ///< the controller's clock, since 1970 or since it was started
  base::Seconds statistics;  ///< the time that lowest, highest and mean speak for
  bool measuring;            ///< not: no measurement is available, and the powers mean nothing
  bool operator==(const DcmiPower&) const = default;
};

/// Out of the bytes of an answer, its completion code in front.
std::variant<DcmiPower, Failure> dcmi_power(std::span<const std::uint8_t> answer);

/// Asks `<dev>/ipmi0` once a second, from a thread of its own.
Opened open_dcmi(const Options& options);

}  // namespace parajoule::meter
