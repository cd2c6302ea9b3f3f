#pragma once

// NVIDIA GPUs through NVML.

#include "meter/open.h"

namespace parajoule::meter {

/// The GPUs that CUDA_VISIBLE_DEVICES leaves to the run. Each has an energy counter (Volta and
/// later), or else its power, to be integrated; where it has both, both are sources of the one
/// device. A GPU cut up by MIG is there once, whole; one on a module with a processor is part of
/// `module N`.
Opened open_nvml(const Options& options);

}  // namespace parajoule::meter
