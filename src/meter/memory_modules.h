#pragma once

// The modules of main memory as the firmware lists them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

namespace parajoule::meter {

/// Modules that are there, of `<sys>/firmware/dmi/entries`. None if it cannot be read, as by most
/// who are not root, or lists none.
std::optional<int> memory_modules(const std::filesystem::path& sys);

/// Whether a structure of type 17 (SMBIOS 3.7, 7.18) is of a slot with a module in it.
bool holds_module(std::span<const std::uint8_t> structure);

}  // namespace parajoule::meter
