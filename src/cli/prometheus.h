#pragma once

// Energies as Prometheus reads them (text format 0.0.4): a counter in joules for each device and
// label. There is no sum in it: rows of different labels are never to be added, nor a device to
// what it is part of.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "measure/account.h"
#include "meter/source.h"

namespace parajoule::cli {

/// A source as it stands. What there is no number for has no line: it is not 0.
struct Exposed {
  meter::Description description;
  std::string node;  ///< name of the machine
  std::optional<base::Joules> energy = {};
  std::optional<base::Watts> power = {};
  std::optional<double> value = {};  ///< of sources of neither energy nor power, in their unit
  std::optional<bool> failed = {};   ///< the last reading did
};

std::string prometheus_text(std::span<const Exposed> exposed);

/// The sources of a command that was metered, with their energy and mean power while it ran.
std::vector<Exposed> exposed_of(const measure::Account& account);

}  // namespace parajoule::cli
