#pragma once

// The energies of a run as text, every number with its label and what it covers.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/numbers.h"
#include "cli/run_account.h"
#include "cli/table.h"

namespace parajoule::cli {

/// No line of a summary is wider.
inline constexpr std::size_t most_columns = 100;

/// A title, a rule and `body`; nothing at all if `body` is empty.
std::string section(std::string_view title, const std::string& body, Look look);

/// `text` in lines that fit; all but the first are set in.
std::string indented(std::string_view text, std::size_t by = 2);

/// "12.34 ± 0.12 Wh", the half width of the 95 % interval behind the sign.
std::string energy_text(base::Joules energy, const meter::Uncertainty& uncertainty);

/// The same of a sum; "none" if no source has a number.
template <meter::Label label>
std::string total_text(const std::optional<meter::Total<label>>& total) {
  return total ? energy_text(total->energy(), total->uncertainty()) : "none";
}

/// Every source of energy or power: device, label, energy, mean power, and below what it covers.
std::string sources_text(const StretchAccount& account, Look look);

/// The meters of whole nodes: each a total beside the others, and what it has over the measured
/// parts. Empty without such a meter.
std::string wholes_text(const StretchAccount& account, Look look);

/// Each in lines of its own that fit.
std::string lines_text(const std::vector<std::string>& lines);

/// Empty if the run did not ask for that profile.
std::string study_text(const std::optional<meter::StudyAccount>& study, Look look);

}  // namespace parajoule::cli
