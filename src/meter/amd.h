#pragma once

// AMD GPUs through AMD SMI, or else ROCm SMI.

#include "meter/open.h"

namespace parajoule::meter {

/// The GPUs that ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave to the run. Each has its energy
/// counter and its power, where it tells them; one that stops to count is told by its power. Of a
/// package with two dies the first die has the number of both: the second is part of it. Nothing,
/// and no word of it, where the driver amdgpu is not loaded.
Opened open_amd(const Options& options);

}  // namespace parajoule::meter
