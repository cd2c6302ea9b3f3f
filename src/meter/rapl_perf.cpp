#include "meter/rapl_perf.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "meter/perf_counter.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;

namespace {

/// An event that the kernel lists, and what it stands for.
struct Listed {
  std::string_view file;  ///< in the folder `events`
  std::string_view name;  ///< that powercap gives to the same
};

constexpr Listed listed[] = {{"energy-psys", "psys"},
                             {"energy-pkg", "package-0"},
                             {"energy-cores", "core"},
                             {"energy-gpu", "uncore"},
                             {"energy-ram", "dram"}};

/// The processor that counts for a package, or for one of its dies.
struct Place {
  int processor;
  std::string package;  ///< as powercap would name it: `package-0`, `package-1-die-0`
};

class PerfEnergy final : public RaplCounter {
 public:
  PerfEnergy(std::unique_ptr<PerfCounter> counter, double scale)
      : counter_(std::move(counter)), scale_(scale) {}

  std::variant<Joules, Failure> energy() override {
    const auto count = counter_->count();
    if (const auto* failure = std::get_if<Failure>(&count)) return *failure;
    return Joules{double(std::get<std::uint64_t>(count)) * scale_};
  }

 private:
  std::unique_ptr<PerfCounter> counter_;
  double scale_;
};

/// `event=0x02`; none if there is more to it than that.
std::optional<std::uint64_t> config_in(const fs::path& file) {
  const auto line = line_of(file);
  constexpr std::string_view begin = "event=0x";
  if (!line || !line->starts_with(begin)) return {};
  const char* end = line->data() + line->size();
  std::uint64_t config = 0;
  const auto [rest, error] = std::from_chars(line->data() + begin.size(), end, config, 16);
  if (error != std::errc() || rest != end) return {};
  return config;
}

/// Joules a count. The files hold a decimal fraction in the kernel's own words.
std::optional<double> scale_of(const fs::path& event) {
  const auto scale = line_of(event.string() + ".scale");
  if (!scale || line_of(event.string() + ".unit") != "Joules") return {};
  double value = 0;
  const char* end = scale->data() + scale->size();
  const auto [rest, error] = std::from_chars(scale->data(), end, value);
  if (error != std::errc() || rest != end || !(value > 0) || !std::isfinite(value)) return {};
  return value;
}

std::vector<Place> places_of(const Options& options, const std::vector<int>& processors) {
  std::map<std::uint64_t, int> dies;
  const auto topology = [&](int processor, const char* file) {
    const fs::path folder = fmt::format("devices/system/cpu/cpu{}/topology", processor);
    return number_in(options.sys / folder / file).value_or(0);
  };
  for (int processor : processors) ++dies[topology(processor, "physical_package_id")];
  std::vector<Place> places;
  for (int processor : processors) {
    const std::uint64_t package = topology(processor, "physical_package_id");
    std::string name = fmt::format("package-{}", package);
    if (dies[package] > 1) name += fmt::format("-die-{}", topology(processor, "die_id"));
    places.push_back({processor, std::move(name)});
  }
  return places;
}

std::string id_of(std::string_view event, int processor) {
  return fmt::format("power/{}/ on processor {}", event, processor);
}

Zone zone_of(const Listed& event, const Place& place) {
  Zone zone{.id = id_of(event.file, place.processor),
            .name = std::string(event.name),
            .folder = {},
            .domain = domain_of(event.name)};
  zone.reach = Reach::perf;
  if (zone.domain == Domain::platform) return named(std::move(zone), nullptr);
  if (zone.domain == Domain::package) {
    zone.name = place.package;
    return named(std::move(zone), nullptr);
  }
  Zone package = zone;
  package.name = place.package;
  package.domain = Domain::package;
  zone.parent = id_of("energy-pkg", place.processor);
  return named(std::move(zone), &package);
}

Unavailable denied(const Options& options) {
  const auto paranoid = line_of(options.proc / "sys/kernel/perf_event_paranoid");
  return {.what = "cpu and memory, RAPL perf_event",
          .reason = fmt::format("kernel.perf_event_paranoid is {}: counting of a whole processor "
                                "is refused",
                                paranoid.value_or("not known")),
          .remedy = "sudo sysctl kernel.perf_event_paranoid=0  (holds until the next start)",
          .state = Unavailable::State::unreadable};
}

/// Opens one event; a refusal is put into `opened`.
void open_event(const Options& options, PerfEvent event, Zone zone, double scale,
                std::vector<Candidate>& candidates, Opened& opened) {
  const auto open = options.perf ? options.perf : open_perf_counter;
  auto result = open(event);
  std::optional<Failure> failure;
  if (const auto* refused = std::get_if<Failure>(&result)) failure = *refused;
  if (!failure) {
    auto counter = std::make_unique<PerfEnergy>(
        std::move(std::get<std::unique_ptr<PerfCounter>>(result)), scale);
    const auto shown = counter->energy();
    if (const auto* energy = std::get_if<Joules>(&shown)) {
      candidates.push_back({.zone = std::move(zone),
                            .counter = std::move(counter),
                            .first = *energy,
                            .last = *energy,
                            .endless = true});
      return;
    }
    failure = std::get<Failure>(shown);
  }
  Unavailable missing = {.what = titled(zone),
                         .reason = fmt::format("perf_event_open: {}", failure->text),
                         .remedy = "none known: the kernel lists the event but does not count it",
                         .state = Unavailable::State::dead};
  if (failure->code == EACCES || failure->code == EPERM) missing = denied(options);
  if (std::ranges::find(opened.unavailable, missing) == opened.unavailable.end())
    opened.unavailable.push_back(std::move(missing));
}

}  // namespace

bool is_amd(const Options& options) {
  const auto read = KernelFile(options.proc / "cpuinfo").text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text) return false;
  return text->find("AuthenticAMD") != std::string::npos ||
         text->find("HygonGenuine") != std::string::npos;
}

std::vector<Candidate> perf_candidates(const Options& options, Opened& opened) {
  std::vector<Candidate> candidates;
  const fs::path unit = options.sys / "bus/event_source/devices/power";
  const auto type = number_in(unit / "type");
  const auto processors = numbers_of(line_of(unit / "cpumask").value_or(""));
  if (!type || processors.empty()) return candidates;
  // Of AMD's the package alone is sound: kernels before 5.17 list events that do not exist, and
  // the cores of a two-socket EPYC 7702 read aberrant values (alumet, plugin-rapl, consistency.rs).
  const bool packages_only = is_amd(options);
  for (const Place& place : places_of(options, processors)) {
    for (const Listed& event : listed) {
      const bool platform = event.file == "energy-psys";
      if (platform && place.processor != processors.front()) continue;
      if (packages_only && event.file != "energy-pkg") continue;
      const auto config = config_in(unit / "events" / event.file);
      const auto scale = scale_of(unit / "events" / event.file);
      if (!config || !scale) continue;
      open_event(options, {std::uint32_t(*type), *config, place.processor}, zone_of(event, place),
                 *scale, candidates, opened);
    }
  }
  return candidates;
}

}  // namespace parajoule::meter
