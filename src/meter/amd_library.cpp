#include "meter/amd_library.h"

#include <cmath>

#include <fmt/format.h>

namespace parajoule::meter {

/// 15.3 uJ is usual; a resolution that was forgotten shows as 0 or as nonsense.
std::optional<std::string> amd_problem(const SharedLibrary& library, const AmdWords& words,
                                       const char* name,
                                       const std::variant<int, std::string>& result) {
  if (const auto* missing = std::get_if<std::string>(&result)) return *missing;
  const int code = std::get<int>(result);
  if (code == 0) return {};
  const char* text = nullptr;
  library.call(words.words_of, code, &text);
  return fmt::format("{}: {} ({} {})", name, text ? text : "failed", words.library, code);
}

Answer amd_energy(std::uint64_t count, float resolution) {
  if (!std::isfinite(resolution) || resolution <= 0 || resolution > 1e4F)
    return fmt::format("an energy counter with the resolution {} uJ", resolution);
  if (count == ~std::uint64_t(0)) return "not available";
  return double(count) * double(resolution) * 1e-6;
}

Answer amd_watts(std::uint32_t watts) {
  if (watts >= 0xffff) return "not available";
  return double(watts);
}

std::vector<std::string> amd_names(const std::string& name, std::initializer_list<int> numbers) {
  std::vector<std::string> names = {name};
  if (name.find('/') != std::string::npos) return names;
  names.push_back("/opt/rocm/lib/" + name);
  for (int number : numbers) names.push_back(fmt::format("{}.{}", name, number));
  return names;
}

}  // namespace parajoule::meter
