#pragma once

// Sensors of boards and chips by the kernel's hwmon files: power, energy, current and voltage.

#include <optional>
#include <string>
#include <string_view>

#include "meter/open.h"

namespace parajoule::meter {

/// Reads `<sys>/class/hwmon`. Known are NVIDIA's Grace (processor socket, in it its cores, its
/// SysIO and, as what is left, its memory; the module beside), the ACPI meter of a whole node and
/// Intel's GPUs. What nobody told us the place of is shown and never added (device_kind `sensor`).
/// Chips whose numbers another family reads are left out, with that reason.
Opened open_hwmon(const Options& options);

/// How `covers` begins of AMD's GPUs where their library is not here: their driver tells the power.
inline constexpr std::string_view amd_by_hwmon = "AMD GPU by its driver alone";

/// A power meter of Grace by the words of its firmware: `CPU Power Socket 0`.
struct GraceMeter {
  enum class Part { whole, grace, cpu, sysio };
  Part part;
  int socket;
  bool operator==(const GraceMeter&) const = default;
};
std::optional<GraceMeter> grace_meter(std::string_view words);

}  // namespace parajoule::meter
