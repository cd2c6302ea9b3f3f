#pragma once

// The sources of one NVIDIA GPU.

#include <memory>
#include <set>
#include <string>

#include "meter/gpu.h"
#include "meter/nvml_library.h"
#include "meter/open.h"

namespace parajoule::meter {

/// Energy and power of a GPU, of its memory and of its module where it tells them, and what else it
/// tells once a second, which no energy depends on. A module is opened by the first of its GPUs;
/// `modules` holds those that are.
void open_gpu(const std::shared_ptr<const NvmlLibrary>& library, const Gpu& gpu,
              std::set<std::string>& modules, Opened& opened);

}  // namespace parajoule::meter
