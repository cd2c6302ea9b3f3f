#include "meter/rapl_zones.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;

namespace {

/// `intel-rapl:0:1` and the like; the control type itself, `intel-rapl`, is no zone.
bool names_zone(std::string_view id) {
  return id.starts_with("intel-rapl") && id.find(':') != std::string_view::npos;
}

/// The numbers of an id, so that zone 10 comes after zone 9.
std::vector<long> place(std::string_view id) {
  std::vector<long> numbers;
  for (std::size_t colon = id.find(':'); colon != std::string_view::npos;
       colon = id.find(':', colon + 1))
    numbers.push_back(std::strtol(std::string(id.substr(colon + 1)).c_str(), nullptr, 10));
  return numbers;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error))
    if (std::error_code ignored; entries->is_directory(ignored)) found.push_back(entries->path());
  return found;
}

Zone zone_at(const fs::path& folder) {
  const std::string id = folder.filename();
  Zone zone{.id = id,
            .name = line_of(folder / "name").value_or(""),
            .folder = folder,
            .domain = Domain::unknown};
  zone.domain = domain_of(zone.name);
  if (id.starts_with("intel-rapl-mmio")) zone.reach = Reach::mmio;
  if (place(id).size() > 1) zone.parent = id.substr(0, id.rfind(':'));
  return zone;
}

void collect(const fs::path& folder, int depth, std::map<std::string, Zone>& zones) {
  for (const fs::path& inside : folders_in(folder)) {
    const std::string id = inside.filename();
    if (names_zone(id)) zones.try_emplace(id, zone_at(inside));
    // Links (`subsystem`, `device`) lead out of the tree and round in circles.
    if (depth > 0 && id.starts_with("intel-rapl")) collect(inside, depth - 1, zones);
  }
}

/// `package-0-die-1` as `cpu package 0 die 1`.
std::string package_in_words(std::string name) {
  std::ranges::replace(name, '-', ' ');
  return "cpu " + name;
}

std::string in_words(const Zone& zone, const std::string& package) {
  switch (zone.domain) {
    case Domain::platform:
      return "platform (psys)";
    case Domain::package:
      return package_in_words(zone.name);
    case Domain::core:
      return "cores of " + package;
    case Domain::uncore:
      return "uncore of " + package;
    case Domain::memory:
      return "memory of " + package;
    case Domain::unknown:
      break;
  }
  return zone.name.empty() ? "a nameless domain" : fmt::format("domain '{}'", zone.name);
}

}  // namespace

Domain domain_of(std::string_view name) {
  if (name.starts_with("package-")) return Domain::package;
  if (name.starts_with("psys")) return Domain::platform;
  if (name == "core") return Domain::core;
  if (name == "uncore") return Domain::uncore;
  if (name == "dram") return Domain::memory;
  return Domain::unknown;
}

Zone named(Zone zone, const Zone* around) {
  zone.path = zone.domain == Domain::platform ? "platform" : zone.name;
  if (around) zone.path = around->name + " " + zone.path;
  zone.words = in_words(zone, around ? package_in_words(around->name) : "a cpu package");
  return zone;
}

std::vector<Zone> rapl_zones(const fs::path& sys) {
  std::map<std::string, Zone> found;
  for (const char* tree : {"class/powercap", "devices/virtual/powercap"})
    collect(sys / tree, 2, found);
  std::vector<Zone> zones;
  for (const auto& [id, zone] : found) {
    const auto around = zone.parent ? found.find(*zone.parent) : found.end();
    zones.push_back(named(zone, around != found.end() ? &around->second : nullptr));
  }
  std::ranges::stable_sort(zones, [](const Zone& a, const Zone& b) {
    return std::pair(a.reach, place(a.id)) < std::pair(b.reach, place(b.id));
  });
  return zones;
}

}  // namespace parajoule::meter
