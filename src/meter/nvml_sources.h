#pragma once

// The sources of one NVIDIA GPU.

#include <memory>
#include <set>
#include <string>

#include "meter/gpu.h"
#include "meter/nvml_library.h"
#include "meter/open.h"

namespace parajoule::meter {

/// Steps of the energy counter: 20 to 100 ms, as others saw on boards.
inline constexpr base::Seconds counter_period{0.1};

/// Energy and power of a GPU, of its memory and of its module where it tells them, and what else it
/// tells once a second, which no energy depends on. A module is opened by the first of its GPUs;
/// `modules` holds those that are. Gives how long a read of its energy counter takes.
base::Seconds open_gpu(const std::shared_ptr<const NvmlLibrary>& library, const Gpu& gpu,
                       std::set<std::string>& modules, Opened& opened);

}  // namespace parajoule::meter
