#include "meter/memory_modules.h"

#include <string>
#include <system_error>

#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;

bool holds_module(std::span<const std::uint8_t> structure) {
  constexpr std::size_t size_low = 0x0c, size_high = 0x0d, shortest = 0x15;
  if (structure.size() < shortest || structure[0] != 17 || structure[1] < shortest) return false;
  return structure[size_low] != 0 || structure[size_high] != 0;
}

std::optional<int> memory_modules(const fs::path& sys) {
  int count = 0;
  std::error_code error;
  for (fs::directory_iterator entry(sys / "firmware/dmi/entries", error), end;
       !error && entry != end; entry.increment(error)) {
    if (!entry->path().filename().string().starts_with("17-")) continue;
    const auto read = KernelFile(entry->path() / "raw").text();
    const auto* bytes = std::get_if<std::string>(&read);
    if (!bytes) return {};
    count += holds_module({reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size()});
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

}  // namespace parajoule::meter
