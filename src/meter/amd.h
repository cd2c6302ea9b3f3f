#pragma once

// AMD GPUs through AMD SMI, or else ROCm SMI.

#include <string_view>

#include "meter/open.h"

namespace parajoule::meter {

/// The GPUs that ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave to the run. Each has its energy
/// counter and its power, where it tells them; one that stops to count is told by its power. Of a
/// package with two dies the first die has the number of both: the second is part of it. Nothing,
/// and no word of it, where the driver amdgpu is not loaded.
Opened open_amd(const Options& options);

/// How `Unavailable` calls all of them where no library can be asked.
inline constexpr std::string_view amd_gpus = "AMD GPUs";

/// Whether one of AMD's libraries is here and can be asked.
bool amd_answers(const Options& options);

}  // namespace parajoule::meter
