#pragma once

// The energies that a run's end has told, kept in its record as settings `told.S.joules` and
// `told.S.uncertainty_joules` of source S: so that they can be held against what the readings of
// the record give when they are computed again, by the same or by a later program.

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/table.h"
#include "meter/account.h"
#include "store/reader.h"

namespace parajoule::cli {

/// Keeps the energies of `nodes`, which were computed from this record. Throws as `store::amend`.
void keep_told(const std::filesystem::path& record, std::span<const meter::NodeAccount> nodes);

/// The same of a run that has just been shown. Gives why they could not be kept; usually nothing.
std::string keep_told(const std::filesystem::path& record);

/// A source's energy as it was told and as it is now.
struct Recomputed {
  int source;
  int node;
  meter::SourceAccount now;
  std::size_t readings;
  std::size_t gaps;
  std::optional<base::Joules> told = {};
  std::optional<base::Joules> told_uncertainty = {};

  /// Beyond what the digits of a number lose.
  bool differs() const;
};

/// All sources of energy and power, from the readings in the record.
std::vector<Recomputed> recomputed(const store::Reader& record);

/// `same`: every number is what was told; `unknown`: the record tells none.
enum class Recount { same = 1, differs, unknown };
Recount recount_of(std::span<const Recomputed> sources);

std::string recomputed_text(const store::Reader& record, std::span<const Recomputed> sources,
                            Look look);

}  // namespace parajoule::cli
