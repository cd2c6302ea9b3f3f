#include "cli/energy_unit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "cli/numbers.h"

namespace parajoule::cli {

EnergyUnit unit_for(base::Joules most) {
  if (most.value < 10'000) return {"J", 1};
  if (most.value < 3.6e6) return {"Wh", 3600};
  return {"kWh", 3.6e6};
}

std::string EnergyUnit::text(base::Joules energy) const {
  return fmt::format("{} {}", rounded(energy.value / joules), name);
}

std::string EnergyUnit::text(base::Joules energy, const meter::Uncertainty& uncertainty) const {
  const double value = energy.value / joules;
  const double half = uncertainty.whole().value / joules;
  // Of what its uncertainty swallows no digit counts that is smaller than the uncertainty's.
  if (!(half > std::abs(value))) return fmt::format("{} {}", rounded(value, half), name);
  const int digits = std::clamp(2 - int(std::floor(std::log10(half))), 0, 8);
  const double unit = std::pow(10.0, -digits);
  const double nearest = std::round(value / unit) * unit;
  return fmt::format("{:.{}f} ± {:.{}f} {}", nearest == 0 ? 0 : nearest, digits,
                     std::ceil(half / unit - 1e-9) * unit, digits, name);
}

std::string EnergyUnit::bare(base::Joules energy) const {
  const double value = energy.value / joules;
  if (!(value > 0)) return "0";
  // Two digits count; what is rounded up is never too small.
  const int digits = std::clamp(1 - int(std::floor(std::log10(value))), 0, 8);
  const double unit = std::pow(10.0, -digits);
  return fmt::format("{:.{}f}", std::ceil(value / unit - 1e-9) * unit, digits);
}

}  // namespace parajoule::cli
