#pragma once

// The kinds of meters that are known: one file of this folder and one line of the table each.

#include <span>
#include <string_view>

#include "meter/open.h"

namespace parajoule::meter {

/// One interface by which devices tell what they draw.
struct Family {
  std::string_view name;   ///< `RAPL powercap`
  std::string_view reads;  ///< what is opened: files, devices, a library
  Opened (*open)(const Options&);
  bool met_devices = false;  ///< has read real ones; else it knows made-up ones only
};

/// In the order in which their sources stand in a record. Models are none of them: they fill what
/// these leave open.
std::span<const Family> families();

}  // namespace parajoule::meter
