#pragma once

// Superchips: a processor and its GPUs on one module, metered by different families.

#include <memory>
#include <vector>

#include "meter/source.h"

namespace parajoule::meter {

/// Makes the processor `grace N`, which hwmon meters, part of `module N`, which NVML meters, where
/// both are there: the module's number holds it.
void relate_modules(std::vector<std::unique_ptr<Source>>& sources);

}  // namespace parajoule::meter
