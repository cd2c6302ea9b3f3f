#include "meter/rapl_candidates.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Seconds;

namespace {

constexpr Seconds between_looks{0.001};  // about as often as counters are renewed

Unavailable unreadable(const Zone& zone, const Failure& failure) {
  const fs::path files = zone.folder.parent_path() / "intel-rapl*" / "energy_uj";
  const bool denied = failure.code == EACCES || failure.code == EPERM;
  return {.what = titled(zone),
          .reason = fmt::format("{}: {}", (zone.folder / "energy_uj").string(), failure.text),
          .remedy = denied ? fmt::format("sudo chmod a+r {}  (holds until the next start)",
                                         files.string())
                           : "none known: the kernel shows the zone but does not read it"};
}

/// core and uncore may rest, and in no total they count alone, so standing still tells nothing.
bool must_move(const Candidate& candidate) {
  return candidate.zone.domain != Domain::core && candidate.zone.domain != Domain::uncore;
}

bool moved(const Candidate& candidate) { return candidate.last != candidate.first; }

/// Reads on until every counter has moved, or for as long as `patience`.
void watch(std::vector<Candidate>& candidates, Seconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    for (Candidate& candidate : candidates) {
      const auto number = candidate.file.number();
      if (const auto* shown = std::get_if<std::uint64_t>(&number)) candidate.last = *shown;
    }
    const bool all = std::ranges::all_of(
        candidates, [](const Candidate& c) { return moved(c) || !must_move(c); });
    if (all || std::chrono::steady_clock::now() - begin >= patience) return;
    std::this_thread::sleep_for(between_looks);
  }
}

/// Takes out the zones that stand still: virtual machines offer such.
void drop_dead(std::vector<Candidate>& candidates, Seconds patience, Opened& opened) {
  watch(candidates, patience);
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const bool dead = must_move(candidate) && !moved(candidate);
    if (dead)
      opened.unavailable.push_back(
          {.what = titled(candidate.zone),
           .reason = fmt::format("dead: stood still at {} uJ for {:.0f} ms", candidate.last,
                                 patience.count() * 1e3),
           .remedy = "none: nothing is behind this counter (usual in virtual machines)"});
    return dead;
  });
}

std::vector<Candidate> readable(std::vector<Zone> zones, Opened& opened) {
  std::vector<Candidate> candidates;
  for (Zone& zone : zones) {
    KernelFile file(zone.folder / "energy_uj");
    const auto number = file.number();
    if (const auto* failure = std::get_if<Failure>(&number)) {
      opened.unavailable.push_back(unreadable(zone, *failure));
    } else if (zone.domain == Domain::unknown) {
      opened.unavailable.push_back({.what = titled(zone),
                                    .reason = "a domain of unknown meaning is not counted",
                                    .remedy = "none: tell us what it stands for"});
    } else {
      const auto shown = std::get<std::uint64_t>(number);
      candidates.push_back({std::move(zone), std::move(file), shown, shown});
    }
  }
  return candidates;
}

/// Reads both within microseconds of each other: two counters of their own differ by more.
bool show_the_same(const Candidate& a, const Candidate& b) {
  const auto near = [](std::uint64_t x, std::uint64_t y) {
    return std::max(x, y) - std::min(x, y) < 1'000'000;
  };
  return near(a.first, b.first) && near(a.last, b.last);
}

/// `package-0-die-1` is one of the dies of `package-0`.
std::string_view package_of(std::string_view name) { return name.substr(0, name.find("-die-")); }

/// The candidate whose counter this one shows again: that of the same name reached by MSR, or on
/// processors with one counter a package the first die. It comes before this one in the order.
const Candidate* original(const Candidate& candidate, const std::vector<Candidate>& all) {
  for (const Candidate& other : all) {
    if (&other == &candidate) break;
    const bool twin = candidate.zone.mirror && !other.zone.mirror;
    if (twin && other.zone.path == candidate.zone.path) return &other;
    const bool dies = other.zone.name.find("-die-") != std::string::npos &&
                      package_of(other.zone.name) == package_of(candidate.zone.name);
    if (dies && !candidate.zone.parent && show_the_same(other, candidate)) return &other;
  }
  return nullptr;
}

/// The candidate of the zone around this one, if it can be read.
const Candidate* around(const Candidate& candidate, const std::vector<Candidate>& all) {
  for (const Candidate& other : all)
    if (candidate.zone.parent == other.zone.id) return &other;
  return nullptr;
}

/// A device is called like its zone; where that is not unique, with the zone's id after it.
void name_devices(std::vector<Candidate>& candidates) {
  std::map<std::string, int> seen;
  for (Candidate& candidate : candidates) {
    candidate.device = candidate.zone.path;
    if (seen[candidate.device]++ > 0) candidate.device += " (" + candidate.zone.id + ")";
  }
}

/// Without its package, a core would pass for all that the processor draws.
void drop_orphans(std::vector<Candidate>& candidates, Opened& opened) {
  std::vector<std::string> ids;
  for (const Candidate& candidate : candidates) ids.push_back(candidate.zone.id);
  std::erase_if(candidates, [&](const Candidate& candidate) {
    const bool orphan =
        !must_move(candidate) && std::ranges::count(ids, candidate.zone.parent.value_or("")) == 0;
    if (orphan)
      opened.unavailable.push_back({.what = titled(candidate.zone),
                                    .reason = "a part of a package that cannot be read",
                                    .remedy = "make the package readable"});
    return orphan;
  });
}

void relate(std::vector<Candidate>& candidates) {
  const auto platform = std::ranges::find_if(
      candidates, [](const Candidate& c) { return c.zone.domain == Domain::platform; });
  for (Candidate& candidate : candidates) {
    const Domain domain = candidate.zone.domain;
    const Candidate* package = around(candidate, candidates);
    if (const Candidate* same = original(candidate, candidates))
      candidate.part_of = same->device;
    else if (package && (domain == Domain::core || domain == Domain::uncore))
      candidate.part_of = package->device;
    else if (domain != Domain::platform && platform != candidates.end())
      candidate.part_of = platform->device;
  }
}

}  // namespace

std::string titled(const Zone& zone) {
  return fmt::format("{}, RAPL powercap ({})", zone.words, zone.id);
}

std::vector<Candidate> rapl_candidates(const Options& options, Opened& opened) {
  const std::vector<Zone> zones = rapl_zones(options.sys);
  if (zones.empty())
    opened.unavailable.push_back(
        {.what = "cpu and memory, RAPL powercap",
         .reason = fmt::format("{} has no zone", (options.sys / "class/powercap").string()),
         .remedy = "sudo modprobe intel_rapl_msr (in a virtual machine nothing helps)"});
  std::vector<Candidate> candidates = readable(zones, opened);
  if (options.patience) drop_dead(candidates, *options.patience, opened);
  drop_orphans(candidates, opened);
  name_devices(candidates);
  relate(candidates);
  return candidates;
}

}  // namespace parajoule::meter
