#pragma once

// The NVIDIA GPUs of a node, and what is known of their sensors.

#include <optional>
#include <string>
#include <string_view>
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
  base::Watts most{6000};     ///< three times what it may draw; a reading above it is wrong
  bool module_power = false;  ///< tells the power of a module it is part of

  std::string title() const { return "GPU " + std::to_string(index); }
};

/// All GPUs of the node. One that cannot be asked keeps its place, for indices count it too; it has
/// no device, and `opened` says why.
std::vector<Gpu> all_gpus(const NvmlLibrary& library, Opened& opened);

enum class PowerField { instant, average, usage };

/// How often the power is renewed, and the window over which it is averaged, as measured by
/// "Part-time Power Measurements" (Yang, Adamek, Armour; SC 2024, arXiv:2312.02741) on 70 GPUs:
/// they differ from generation to generation, and some from driver to driver. Younger generations
/// than the paper's by NVML's documentation. No window where none is known, or where the sensor
/// filters instead (Kepler, first Maxwell).
struct PowerTiming {
  base::Seconds update;
  std::optional<base::Seconds> window = {};
};
PowerTiming power_timing(const Gpu& gpu, PowerField field);

/// 95 % bounds against external meters, from the same paper: A100 boards read about 5.7 % low,
/// desktop cards up to 8 %, one 12.7 % high.
double bias_of(const Gpu& gpu);

/// The superchip a GPU sits on with its processor: `module 0`; none of GPUs on boards. Of the GB200
/// and its successors two GPUs sit on one.
std::optional<std::string> module_of(const Gpu& gpu);

/// Whether the energy counter is that of the whole module: so it is on GH200.
bool counts_module(const Gpu& gpu);

/// What of the hardware the numbers are of: `whole board`.
std::string scope_of(const Gpu& gpu);

/// Whether a name has this model in it, and not one whose number goes on, as A1000 does A100.
bool is_model(std::string_view name, std::string_view model);
bool is_ga100(std::string_view name);

}  // namespace parajoule::meter
