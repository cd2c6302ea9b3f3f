#pragma once

// Parts of the table of a measured command.

#include <string>
#include <string_view>
#include <vector>

#include "cli/energy_unit.h"
#include "cli/measure_text.h"

namespace parajoule::cli {

/// Every source of energy or power, with its label, what it covers and what is odd about it.
std::string devices_text(const measure::Account& account, const EnergyUnit& unit,
                         const TextOptions& options);

/// Energies of the named regions of the programs, by device; empty if there are none.
std::string regions_text(const measure::Account& account, const EnergyUnit& unit,
                         const TextOptions& options);

/// What draws power and nobody metered, in names alone, and why, with the remedy.
std::vector<std::string> unmetered_parts(const measure::Account& account);
std::vector<std::string> unmetered_reasons(const measure::Account& account);

/// What an energy of one label is made into by a number that somebody gave.
struct Converted {
  std::string_view what;  ///< `energy_with_pue`, `carbon`, `cost`
  std::string_view unit;  ///< `kWh`, `g`; none of a cost
  meter::Label label;
  double value;
  double half_width;  ///< of its 95 % interval
};
std::vector<Converted> amounts_of(const measure::Account& account, const Conversions& conversions);

/// One line for each conversion that was asked for, labels apart.
std::vector<std::string> converted(const measure::Account& account, const Conversions& conversions);

/// As settings of the record, and back.
std::vector<store::Setting> settings_of(const Conversions& conversions);
Conversions conversions_in(const measure::Account& account);

}  // namespace parajoule::cli
