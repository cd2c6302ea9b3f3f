#pragma once

#include "cli/keys.h"

namespace parajoule::cli {

/// Every name of every catalog of this program. Links torch and the data sets in.
Vocabulary vocabulary();

}  // namespace parajoule::cli
