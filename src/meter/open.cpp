#include "meter/open.h"

#include <algorithm>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "meter/amd.h"
#include "meter/families.h"
#include "meter/hwmon.h"
#include "meter/model.h"
#include "meter/modules.h"

namespace parajoule::meter {

namespace {

void append(Opened& all, Opened more) {
  std::ranges::move(more.sources, std::back_inserter(all.sources));
  std::ranges::move(more.unavailable, std::back_inserter(all.unavailable));
}

bool metered(std::span<const std::unique_ptr<Source>> sources, std::string_view kind) {
  return std::ranges::any_of(sources, [&](const std::unique_ptr<Source>& source) {
    const Description& description = source->description();
    return energetic(description) &&
           (description.device_kind == kind || description.device_kind == "platform");
  });
}

/// Puts right what families cannot know of each other.
void relate(std::vector<OpenedFamily>& families) {
  std::vector<std::unique_ptr<Source>> all;
  for (OpenedFamily& family : families)
    std::ranges::move(family.opened.sources, std::back_inserter(all));
  relate_modules(all);
  const bool by_hwmon = std::ranges::any_of(all, [](const auto& source) {
    return source->description().covers.starts_with(amd_by_hwmon);
  });
  auto next = all.begin();
  for (OpenedFamily& family : families)
    for (auto& source : family.opened.sources) source = std::move(*next++);
  if (!by_hwmon) return;
  for (OpenedFamily& family : families)
    for (Unavailable& missing : family.opened.unavailable)
      if (missing.what == amd_gpus) missing.state = Unavailable::State::spare;
}

/// Models of what nothing here meters.
Opened open_models(const Options& options, bool cores_metered, bool memory_metered) {
  Opened opened;
  if (cores_metered && memory_metered) return opened;
  try {
    const Machine found = machine(options);
    if (!cores_metered) opened.sources = model_cores(options, found);
    if (!memory_metered) opened.sources.push_back(model_memory(found));
  } catch (const base::Error& error) {
    opened.unavailable.push_back({.what = "model of cores and memory",
                                  .reason = error.what(),
                                  .remedy = "mount /proc",
                                  .state = Unavailable::State::unreadable});
  }
  return opened;
}

}  // namespace

std::vector<OpenedFamily> open_families(const Options& options) {
  std::vector<OpenedFamily> all;
  bool cores = false;
  bool memory = false;
  for (const Family& family : families()) {
    Opened opened = family.open(options);
    cores = cores || metered(opened.sources, "cpu");
    memory = memory || metered(opened.sources, "memory");
    all.push_back({family.name, family.reads, family.met_devices, std::move(opened)});
  }
  all.push_back({"model", "/proc/stat, /proc/meminfo", true, open_models(options, cores, memory)});
  relate(all);
  return all;
}

Opened open_sources(const Options& options) {
  Opened all;
  for (OpenedFamily& family : open_families(options)) append(all, std::move(family.opened));
  if (!options.periods.empty())
    all.periods = take_periods(all.sources, found_periods(options.periods));
  return all;
}

std::optional<std::string> own_visible_devices() {
  return base::environment("CUDA_VISIBLE_DEVICES");
}
std::optional<std::string> own_device_order() { return base::environment("CUDA_DEVICE_ORDER"); }

std::vector<std::string> unmetered(std::span<const Description> sources) {
  const auto seen = [&](std::string_view kind) {
    return std::ranges::any_of(sources, [&](const Description& description) {
      const bool shared =
          description.device_kind == "outlet" && description.label != Label::measured;
      return energetic(description) && description.device_kind == kind && !shared;
    });
  };
  if (seen("node") || seen("outlet")) return {};
  std::vector<std::string> missing;
  if (!seen("cpu") && !seen("platform")) missing.push_back("processors");
  if (!seen("memory") && !seen("platform")) missing.push_back("memory");
  for (const char* part : {"mainboard", "disks", "network", "fans", "losses of the power supply"})
    missing.push_back(part);
  return missing;
}

}  // namespace parajoule::meter
