#include "meter/rapl_candidates.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "meter/rapl_perf.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;

namespace {

class ZoneFile final : public RaplCounter {
 public:
  explicit ZoneFile(const fs::path& file) : file_(file) {}

  std::variant<Joules, Failure> energy() override {
    const auto number = file_.number();
    if (const auto* failure = std::get_if<Failure>(&number))
      return Failure{failure->code, "energy_uj: " + failure->text};
    return Joules{double(std::get<std::uint64_t>(number)) * 1e-6};
  }

 private:
  KernelFile file_;
};

constexpr Seconds between_looks{0.001};  // about as often as counters are renewed

Unavailable unreadable(const Zone& zone, const Failure& failure) {
  const fs::path files = zone.folder.parent_path() / "intel-rapl*" / "energy_uj";
  const bool denied = failure.code == EACCES || failure.code == EPERM;
  return {.what = titled(zone),
          .reason = fmt::format("{}: {}", zone.folder.string(), failure.text),
          .remedy = denied ? fmt::format("sudo chmod a+r {}  (holds until the next start)",
                                         files.string())
                           : "none known: the kernel shows the zone but does not read it",
          .state = Unavailable::State::unreadable};
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
      const auto shown = candidate.counter->energy();
      if (const auto* energy = std::get_if<Joules>(&shown)) candidate.last = *energy;
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
           .reason = fmt::format("dead: stood still at {} J for {:.0f} ms", candidate.last.value,
                                 patience.count() * 1e3),
           .remedy = "none: nothing is behind this counter (usual in virtual machines)",
           .state = Unavailable::State::dead});
    return dead;
  });
}

std::vector<Candidate> readable(std::vector<Zone> zones, Opened& opened) {
  std::vector<Candidate> candidates;
  for (Zone& zone : zones) {
    auto counter = std::make_unique<ZoneFile>(zone.folder / "energy_uj");
    const auto shown = counter->energy();
    if (const auto* failure = std::get_if<Failure>(&shown)) {
      opened.unavailable.push_back(unreadable(zone, *failure));
    } else if (zone.domain == Domain::unknown) {
      opened.unavailable.push_back({.what = titled(zone),
                                    .reason = "a domain of unknown meaning is not counted",
                                    .remedy = "none: tell us what it stands for",
                                    .state = Unavailable::State::left_out});
    } else {
      const auto energy = std::get<Joules>(shown);
      std::optional<Joules> range;
      if (const auto microjoules = number_in(zone.folder / "max_energy_range_uj"))
        if (*microjoules > 0) range = Joules{double(*microjoules) * 1e-6};
      candidates.push_back({.zone = std::move(zone),
                            .counter = std::move(counter),
                            .first = energy,
                            .last = energy,
                            .range = range});
    }
  }
  return candidates;
}

/// Reads both within microseconds of each other: two counters of their own differ by more.
bool show_the_same(const Candidate& a, const Candidate& b) {
  const auto near = [](Joules x, Joules y) { return std::max(x, y) - std::min(x, y) < Joules{1}; };
  return near(a.first, b.first) && near(a.last, b.last);
}

/// `package-0-die-1` is one of the dies of `package-0`.
std::string_view package_of(std::string_view name) { return name.substr(0, name.find("-die-")); }

bool names_die(const Candidate& candidate) {
  return candidate.zone.domain == Domain::package &&
         candidate.zone.name.find("-die-") != std::string::npos;
}

/// Two dies of a package with one counter for both, as some AMD processors have. Counters of perf
/// all begin at 0, so that what they show tells nothing: there the make decides.
bool are_mirrors(const Candidate& a, const Candidate& b, bool amd) {
  const bool dies = names_die(a) && names_die(b) && a.zone.reach == b.zone.reach &&
                    package_of(a.zone.name) == package_of(b.zone.name);
  return dies && (a.zone.reach == Reach::perf ? amd : show_the_same(a, b));
}

/// The candidate whose counter this one shows again. It comes before this one in the order.
const Candidate* original(const Candidate& candidate, const std::vector<Candidate>& all, bool amd) {
  for (const Candidate& other : all) {
    if (&other == &candidate) break;
    const bool twin = other.zone.reach != candidate.zone.reach;
    if (twin && other.zone.path == candidate.zone.path) return &other;
    if (are_mirrors(other, candidate, amd)) return &other;
  }
  return nullptr;
}

/// The candidate of the zone around this one, if it can be read.
const Candidate* around(const Candidate& candidate, const std::vector<Candidate>& all) {
  for (const Candidate& other : all)
    if (candidate.zone.parent == other.zone.id) return &other;
  return nullptr;
}

/// A device is called like its zone; where that is not unique, with the zone's id after it. Zones
/// that show one counter are one device.
void name_devices(std::vector<Candidate>& candidates, bool amd) {
  std::map<std::string, int> seen;
  for (Candidate& candidate : candidates) {
    const Candidate* same = original(candidate, candidates, amd);
    candidate.device = same ? same->device : candidate.zone.path;
    if (!same && seen[candidate.device]++ > 0) candidate.device += " (" + candidate.zone.id + ")";
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
                                    .remedy = "make the package readable",
                                    .state = Unavailable::State::left_out});
    return orphan;
  });
}

/// perf may have one counter for a package of which powercap shows the dies: it is one device with
/// them if they are one, else it holds them.
void join_dies(std::vector<Candidate>& candidates) {
  for (Candidate& whole : candidates) {
    if (whole.zone.reach != Reach::perf || whole.zone.domain != Domain::package) continue;
    std::vector<Candidate*> dies;
    for (Candidate& die : candidates)
      if (names_die(die) && die.zone.reach != Reach::perf &&
          package_of(die.zone.name) == whole.zone.name)
        dies.push_back(&die);
    if (dies.empty()) continue;
    const bool one = std::ranges::all_of(
        dies, [&](const Candidate* die) { return die->device == dies.front()->device; });
    if (one) whole.device = dies.front()->device;
    for (Candidate* die : dies)
      if (!one) die->part_of = whole.device;
  }
}

void relate(std::vector<Candidate>& candidates) {
  const auto platform = std::ranges::find_if(
      candidates, [](const Candidate& c) { return c.zone.domain == Domain::platform; });
  for (Candidate& candidate : candidates) {
    const Domain domain = candidate.zone.domain;
    const Candidate* package = around(candidate, candidates);
    if (package && (domain == Domain::core || domain == Domain::uncore))
      candidate.part_of = package->device;
    else if (domain != Domain::platform && platform != candidates.end())
      candidate.part_of = platform->device;
  }
}

/// What could not be opened is no loss if another way leads to the same.
void mark_spare(const std::vector<Candidate>& candidates, std::span<Unavailable> missing,
                const std::vector<Zone>& zones) {
  const auto found = [&](std::string_view path) {
    return std::ranges::any_of(candidates, [&](const Candidate& c) { return c.zone.path == path; });
  };
  for (Unavailable& one : missing) {
    const auto zone = std::ranges::find(zones, one.what, titled);
    if (zone != zones.end() ? found(zone->path) : !candidates.empty())
      one.state = Unavailable::State::spare;
  }
}

}  // namespace

std::string titled(const Zone& zone) {
  const char* way = zone.reach == Reach::perf ? "perf_event" : "powercap";
  return fmt::format("{}, RAPL {} ({})", zone.words, way, zone.id);
}

std::vector<Candidate> rapl_candidates(const Options& options, Opened& opened) {
  const std::vector<Zone> zones = rapl_zones(options.sys);
  if (zones.empty())
    opened.unavailable.push_back(
        {.what = "cpu and memory, RAPL powercap",
         .reason = fmt::format("{} has no zone", (options.sys / "class/powercap").string()),
         .remedy = "sudo modprobe intel_rapl_msr (in a virtual machine nothing helps)",
         .state = Unavailable::State::absent});
  std::vector<Candidate> candidates = readable(zones, opened);
  std::ranges::move(perf_candidates(options, opened), std::back_inserter(candidates));
  if (options.patience) drop_dead(candidates, *options.patience, opened);
  drop_orphans(candidates, opened);
  name_devices(candidates, is_amd(options));
  relate(candidates);
  join_dies(candidates);
  mark_spare(candidates, opened.unavailable, zones);
  return candidates;
}

}  // namespace parajoule::meter
