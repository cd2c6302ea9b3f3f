#pragma once

// Parts of the table of a measured command.

#include <string>
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

/// One line for each conversion that was asked for, labels apart.
std::vector<std::string> converted(const measure::Account& account, const Conversions& conversions);

}  // namespace parajoule::cli
