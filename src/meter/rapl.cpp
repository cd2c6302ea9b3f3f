#include "meter/rapl.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/kernel_file.h"
#include "meter/rapl_zones.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

// Intel SDM vol. 3B, 15.10: updated about every millisecond; the coarsest unit in use is 2^-14 J.
constexpr Seconds update_period{0.001};
constexpr double coarsest_step = 0x1p-14;

class RaplSource final : public Source {
 public:
  RaplSource(Description description, KernelFile file, Counter counter)
      : description_(std::move(description)), file_(std::move(file)), counter_(counter) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto number = file_.number();
    if (const auto* failure = std::get_if<Failure>(&number))
      return Gap{Gap::Cause::failed, "energy_uj: " + failure->text};
    return counter_.update(Joules{double(std::get<std::uint64_t>(number)) * 1e-6}, now);
  }

 private:
  Description description_;
  KernelFile file_;
  Counter counter_;
};

/// A zone whose counter could be read.
struct Candidate {
  Zone zone;
  KernelFile file;
  std::uint64_t first;  ///< microjoules
  std::uint64_t last;
  std::string path = {};    ///< names of the zones around it and its own
  std::string device = {};  ///< the same, made unique
  std::optional<std::string> part_of = {};
};

std::string titled(const Zone& zone) {
  return fmt::format("{}, RAPL powercap zone {}", zone.name.empty() ? "nameless" : zone.name,
                     zone.id);
}

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
    std::this_thread::sleep_for(update_period);
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
    if (twin && other.path == candidate.path) return &other;
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

/// A device is called like its zone, with the name of the package before it; where that is not
/// unique, with the zone's id after it.
void name_devices(std::vector<Candidate>& candidates, const std::vector<Zone>& zones) {
  std::map<std::string, int> seen;
  for (Candidate& candidate : candidates) {
    const bool platform = candidate.zone.domain == Domain::platform;
    candidate.path = platform ? "platform" : candidate.zone.name;
    for (const Zone& zone : zones)
      if (candidate.zone.parent == zone.id) candidate.path = zone.name + " " + candidate.path;
    candidate.device = candidate.path;
    if (seen[candidate.path]++ > 0) candidate.device += " (" + candidate.zone.id + ")";
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

std::string kind_of(Domain domain) {
  if (domain == Domain::platform) return "platform";
  return domain == Domain::memory ? "memory" : "cpu";
}

/// 95 % bounds from comparisons with external meters: packages of servers within a few percent
/// (Hackenberg et al., IPDPSW 2015), memory within 20 % (Desrochers et al., MEMSYS 2016); of psys
/// published values range from plausible to half as much again.
double bias_of(Domain domain) {
  if (domain == Domain::platform) return 0.3;
  return domain == Domain::memory ? 0.2 : 0.05;
}

/// Three times what the hardware says it can draw, or what no package, memory or board draws.
Watts most_of(const Zone& zone) {
  if (const auto microwatts = number_in(zone.folder / "constraint_0_max_power_uw"))
    if (*microwatts > 0) return std::max(Watts{double(*microwatts) * 3e-6}, Watts{500});
  return zone.domain == Domain::platform ? Watts{10'000} : Watts{3000};
}

Description described(const Candidate& candidate) {
  const Domain domain = candidate.zone.domain;
  return {.device = candidate.device,
          .device_kind = kind_of(domain),
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::measured,
          .covers = fmt::format("{}; {}", titled(candidate.zone), untried),
          .part_of = candidate.part_of,
          .resolution = coarsest_step,
          .update_period = update_period,
          .bias_relative = bias_of(domain),
          .formula = "differences of energy_uj, passes through max_energy_range_uj added"};
}

std::unique_ptr<Source> source_of(Candidate candidate) {
  Counter::Options counter{.most = most_of(candidate.zone)};
  if (const auto range = number_in(candidate.zone.folder / "max_energy_range_uj"))
    if (*range > 0) counter.range = Joules{double(*range) * 1e-6};
  Description description = described(candidate);
  if (!counter.range)
    description.formula =
        "differences of energy_uj; max_energy_range_uj cannot be read, so a pass "
        "through the range loses the energy since the reading before";
  return std::make_unique<RaplSource>(std::move(description), std::move(candidate.file),
                                      Counter(counter));
}

}  // namespace

Opened open_rapl(const Options& options) {
  Opened opened;
  const std::vector<Zone> zones = rapl_zones(options.sys);
  if (zones.empty())
    opened.unavailable.push_back(
        {.what = "cpu and memory, RAPL powercap",
         .reason = fmt::format("{} has no zone", (options.sys / "class/powercap").string()),
         .remedy = "sudo modprobe intel_rapl_msr  (in a virtual machine nothing helps)"});
  std::vector<Candidate> candidates = readable(zones, opened);
  if (options.patience) drop_dead(candidates, *options.patience, opened);
  drop_orphans(candidates, opened);
  name_devices(candidates, zones);
  relate(candidates);
  for (Candidate& candidate : candidates) opened.sources.push_back(source_of(std::move(candidate)));
  return opened;
}

}  // namespace parajoule::meter
