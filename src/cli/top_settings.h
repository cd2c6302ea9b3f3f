#pragma once

// The keys at the top of an experiment file, as training and rehearsals both read them.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/settings.h"
#include "cli/batches.h"
#include "cli/collected.h"

namespace parajoule::cli {

/// Those with a value: said, or usual.
base::Settings top_settings(const Collected& collected, const Vocabulary& vocabulary);

std::optional<std::int64_t> whole_if_given(const base::Settings& top, std::string_view key);

/// `training`: ranks that train. Throws Error{usage} that names the place if both were said and do
/// not agree.
BatchSizes batch_sizes(const Collected& collected, const base::Settings& top,
                       std::int64_t training);

}  // namespace parajoule::cli
