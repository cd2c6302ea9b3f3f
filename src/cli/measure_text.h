#pragma once

// The table a measured command ends with, and `parajoule runs show` shows again.

#include <optional>
#include <string>
#include <string_view>

#include "cli/table.h"
#include "measure/account.h"

namespace parajoule::cli {

/// What is made of energies only when somebody gives the number for it. None of it is in any other
/// number.
struct Conversions {
  std::optional<double> pue = {};     ///< power of the whole centre over that of its computers
  std::optional<double> carbon = {};  ///< grams of CO2 a kWh
  std::optional<double> price = {};   ///< a kWh
};

/// What the sign ± means, in full sentences: said once in every output.
extern const std::string_view uncertainty_defined;

/// `brief` leaves out the formulas, and of what a device covers all but one line.
enum class Detail { brief, full };

struct TextOptions {
  Conversions conversions = {};
  std::string show_again;  ///< the command that prints it once more
  Look look;
  std::size_t columns;  ///< the width of the terminal
  Detail detail;
};

std::string measure_text(const measure::Account& account, const TextOptions& options);

}  // namespace parajoule::cli
