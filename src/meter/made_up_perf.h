#pragma once

// For tests: perf's counters without a kernel.

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "meter/made_up_tree.h"
#include "meter/perf_counter.h"

namespace parajoule::meter {

/// What the counters of each event and processor show, and whether they may be opened.
struct MadeUpPerf {
  using Key = std::pair<std::uint64_t, int>;
  std::map<Key, std::uint64_t> counts = {};
  std::optional<int> refusal = {};  ///< errno
  std::map<Key, int> missing = {};  ///< errno of single events
  int opened = 0;

  PerfOpener opener() {
    return [this](const PerfEvent& event) -> OpenedPerfCounter {
      const Key key{event.config, event.processor};
      if (refusal) return Failure{*refusal, std::strerror(*refusal)};
      if (missing.contains(key)) return Failure{missing[key], std::strerror(missing[key])};
      ++opened;
      return std::make_unique<Counter>(counts[key]);
    };
  }

 private:
  struct Counter final : PerfCounter {
    explicit Counter(const std::uint64_t& shown) : shown(shown) {}
    std::variant<std::uint64_t, Failure> count() override { return shown; }
    const std::uint64_t& shown;
  };
};

/// The unit `power` as Linux shows it: psys, packages, cores, uncore and memory, one counting
/// processor for each package.
inline void perf_unit(const MadeUpTree& tree, const std::string& cpumask) {
  const std::filesystem::path unit = "sys/bus/event_source/devices/power";
  tree.write(unit / "type", "9\n");
  tree.write(unit / "cpumask", cpumask + "\n");
  const std::pair<const char*, const char*> events[] = {{"energy-cores", "event=0x01"},
                                                        {"energy-pkg", "event=0x02"},
                                                        {"energy-ram", "event=0x03"},
                                                        {"energy-gpu", "event=0x04"},
                                                        {"energy-psys", "event=0x05"}};
  for (const auto& [name, config] : events) {
    tree.write(unit / "events" / name, std::string(config) + "\n");
    tree.write(unit / "events" / (std::string(name) + ".unit"), "Joules\n");
    tree.write(unit / "events" / (std::string(name) + ".scale"), "2.3283064365386962890625e-10\n");
  }
}

inline void perf_topology(const MadeUpTree& tree, int processor, int package, int die = 0) {
  const std::filesystem::path folder =
      fmt::format("sys/devices/system/cpu/cpu{}/topology", processor);
  tree.write(folder / "physical_package_id", fmt::format("{}\n", package));
  tree.write(folder / "die_id", fmt::format("{}\n", die));
}

}  // namespace parajoule::meter
