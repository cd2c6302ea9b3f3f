#pragma once

// What a rehearsal found, as text and as a record.

#include <filesystem>
#include <string>

#include "cli/rehearsal_request.h"

namespace parajoule::cli {

/// Up to how many ranks rehearsals were ever compared with measurements of the same run. Raised
/// together with docs/rehearsal.md, which says how far off they were.
inline constexpr int checked_ranks = 4;

/// One line: whether so many ranks were ever checked.
std::string trust_in(int ranks);

std::string rehearsal_text(const RehearsalPlan& plan, const rehearse::Outcome& outcome);

/// Writes the record of kind `rehearsal`, whose every number is labelled simulated; its path.
/// Throws Error{environment} if it cannot be written.
std::filesystem::path write_rehearsal(const RehearsalPlan& plan, const rehearse::Outcome& outcome,
                                      const std::string& folder, const std::string& command);

}  // namespace parajoule::cli
