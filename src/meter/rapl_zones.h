#pragma once

// The zones of RAPL as plain values: those of a powercap tree, and the events of perf.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parajoule::meter {

/// What a RAPL zone stands for, by its name.
enum class Domain { platform, package, core, uncore, memory, unknown };

/// How a zone's counter is reached; one counter may be reached in several ways. In the order in
/// which they are believed.
enum class Reach { msr, mmio, perf };

struct Zone {
  std::string id;    ///< of its folder: `intel-rapl:0:1`; or its event: `power/energy-ram/ cpu 0`
  std::string name;  ///< `package-0`, `package-1-die-0`, `dram`
  std::filesystem::path folder;  ///< of powercap
  Domain domain;
  std::optional<std::string> parent = {};  ///< id of the zone around it
  Reach reach = Reach::msr;
  std::string path = {};   ///< its name with that of the zone around it: `package-0 dram`
  std::string words = {};  ///< the same for people: `memory of cpu package 0`
};

Domain domain_of(std::string_view name);

/// Gives a zone its `path` and `words`; `around` is the zone that holds it, if it is known.
Zone named(Zone zone, const Zone* around);

/// All zones under `<sys>`, whether they are links, folders in folders, or both; each once, sorted
/// by id with numbers in order.
std::vector<Zone> rapl_zones(const std::filesystem::path& sys);

}  // namespace parajoule::meter
