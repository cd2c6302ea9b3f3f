#pragma once

// The energy of a run over its time, with the phases of its ranks, for "where the kWh went".

#include <optional>

#include "cli/run_account.h"
#include "report/uses.h"
#include "store/reader.h"

namespace parajoule::cli {

/// The measured energy, else the modelled one. None of a run without phases or energy.
std::optional<report::Traced> traced(const store::Reader& record, const RunAccount& account);

}  // namespace parajoule::cli
