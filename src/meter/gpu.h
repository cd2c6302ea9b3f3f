#pragma once

// The NVIDIA GPUs of a node, and what is known of their sensors.

#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "meter/cuda_visible.h"
#include "meter/nvml_library.h"
#include "meter/open.h"

namespace parajoule::meter {

/// A GPU with all that its descriptions say.
struct Gpu {
  unsigned index = 0;
  NvmlDevice device = nullptr;  ///< none: it cannot be asked
  std::string name = "nameless";
  std::string driver = {};
  GpuNames names = {};
  std::optional<NvmlArchitecture> architecture = {};
  base::Watts most{6000};  ///< three times what it may draw; a reading above it is wrong

  std::string title() const { return "GPU " + std::to_string(index); }
};

/// All GPUs of the node. One that cannot be asked keeps its place, for indices count it too; it has
/// no device, and `opened` says why.
std::vector<Gpu> all_gpus(const NvmlLibrary& library, Opened& opened);

enum class PowerField { instant, usage };

/// Of power, from "Part-time Power Measurements" (Yang, Adamek, Armour; SC 2024, arXiv:2312.02741)
/// and NVML's documentation: GA100 and older give the moment, younger ones the mean of a second
/// unless asked for the moment. None if the generation is not known.
std::optional<base::Seconds> window_of(const Gpu& gpu, PowerField field);
base::Seconds power_update_of(const Gpu& gpu);

/// 95 % bounds against external meters, from the same paper: A100 boards read about 5.7 % low,
/// desktop cards up to 8 %, one 12.7 % high.
double bias_of(const Gpu& gpu);

/// What of the hardware the numbers are of: `whole board`.
std::string scope_of(const Gpu& gpu);

}  // namespace parajoule::meter
