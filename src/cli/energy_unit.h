#pragma once

// Energies of any size in the unit in which they read best.

#include <string>
#include <string_view>

#include "base/quantity.h"
#include "meter/total.h"

namespace parajoule::cli {

struct EnergyUnit {
  std::string_view name;  ///< J, Wh, kWh
  double joules;          ///< in one of it

  /// "12.34 J"
  std::string text(base::Joules energy) const;
  /// "12.34 ± 0.12 J", the half width of the 95 % interval behind the sign.
  std::string text(base::Joules energy, const meter::Uncertainty& uncertainty) const;
  /// "0.12": of an uncertainty, rounded up.
  std::string bare(base::Joules energy) const;
};

/// For a table whose greatest number is `most`.
EnergyUnit unit_for(base::Joules most);

}  // namespace parajoule::cli
