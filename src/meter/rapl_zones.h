#pragma once

// The zones of a powercap tree as plain values.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::meter {

/// What a RAPL zone stands for, by its name.
enum class Domain { platform, package, core, uncore, memory, unknown };

struct Zone {
  std::string id;    ///< of its folder: `intel-rapl:0:1`, `intel-rapl-mmio:0`
  std::string name;  ///< `package-0`, `package-1-die-0`, `dram`
  std::filesystem::path folder;
  Domain domain;
  std::optional<std::string> parent = {};  ///< id of the zone around it
  bool mirror = false;                     ///< reached by MMIO, shows what the MSR zone shows
  std::string path = {};   ///< its name with that of the zone around it: `package-0 dram`
  std::string words = {};  ///< the same for people: `memory of cpu package 0`
};

Domain domain_of(std::string_view name);

/// All zones under `<sys>`, whether they are links, folders in folders, or both; each once, sorted
/// by id with numbers in order.
std::vector<Zone> rapl_zones(const std::filesystem::path& sys);

}  // namespace parajoule::meter
