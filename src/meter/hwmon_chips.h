#pragma once

// The channels of a machine's hwmon chips as plain values.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace parajoule::meter {

/// What the kernel lists of one quantity of one chip.
struct Channel {
  std::filesystem::path file;  ///< that is read: `.../power1_average`
  std::string quantity;        ///< `power`, `energy`, `curr`, `in`, `temp`
  int number;                  ///< 1 of `power1_average`
  bool averaged = false;       ///< over a time, `_average` and not `_input`
  std::optional<std::string> label = {};
};

struct Chip {
  std::string name;               ///< what the driver calls itself: `coretemp`, `power_meter`
  std::string place;              ///< where the device is: `0000:03:00.0`, `1-0040`; may be empty
  std::filesystem::path folder;   ///< its number, hwmon3, is another one after the next start
  std::vector<Channel> channels;  ///< by quantity and number
  bool fallback = false;          ///< the family that would read it cannot
};

/// All chips under `<sys>/class/hwmon`, by name and place. Files of older drivers, the ACPI power
/// meter's among them, lie in the folder of the device beside.
std::vector<Chip> hwmon_chips(const std::filesystem::path& sys);

}  // namespace parajoule::meter
