#include "meter/processors.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "meter/hwmon_chips.h"
#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Seconds;

namespace {

constexpr Seconds every{1};
constexpr std::size_t most_clocks = 8;  // each read asks its processor

/// The mean of some files, times a factor.
class MeanOfFiles final : public Source {
 public:
  MeanOfFiles(Description description, std::vector<KernelFile> files, double factor)
      : description_(std::move(description)), files_(std::move(files)), factor_(factor) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds) override {
    double sum = 0;
    for (const KernelFile& file : files_) {
      const auto number = file.number();
      if (const auto* failure = std::get_if<Failure>(&number))
        return Gap{Gap::Cause::failed, failure->text};
      sum += double(std::get<std::uint64_t>(number));
    }
    return factor_ * sum / double(files_.size());
  }

 private:
  Description description_;
  std::vector<KernelFile> files_;
  double factor_;
};

/// Milliseconds counted between two looks, as a share of the time between.
class ShareOfTime final : public Source {
 public:
  ShareOfTime(Description description, KernelFile file)
      : description_(std::move(description)), file_(std::move(file)) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto number = file_.number();
    if (const auto* failure = std::get_if<Failure>(&number))
      return Gap{Gap::Cause::failed, failure->text};
    const Seconds counted(double(std::get<std::uint64_t>(number)) * 1e-3);
    const Look before = std::exchange(last_, Look{counted, now, true});
    if (!before.taken || now <= before.at)
      return Gap{Gap::Cause::failed, "no time has passed since the first look"};
    return std::clamp((counted - before.counted) / (now - before.at), 0.0, 1.0);
  }

 private:
  struct Look {
    Seconds counted{0};
    Seconds at{0};
    bool taken = false;
  };

  Description description_;
  KernelFile file_;
  Look last_;
};

Description described(std::string device, Quantity quantity, std::string unit, std::string covers) {
  return {.device = std::move(device),
          .device_kind = "cpu",
          .quantity = quantity,
          .unit = std::move(unit),
          .label = Label::measured,
          .covers = std::move(covers),
          .update_period = every};
}

bool readable(const KernelFile& file) {
  return std::holds_alternative<std::uint64_t>(file.number());
}

/// `Package id 1` of coretemp is `package-1`; others go by the words of their chips.
std::string device_of(const Chip& chip, const Channel& channel) {
  const std::string label = channel.label.value_or("");
  constexpr std::string_view package = "Package id ";
  if (label.starts_with(package)) return "package-" + label.substr(package.size());
  return fmt::format("{} {}", chip.name, chip.place);
}

/// Of each chip of a processor one temperature: that of the package, or the one by which it is
/// cooled.
void add_temperatures(Opened& opened, const fs::path& sys) {
  for (const Chip& chip : hwmon_chips(sys)) {
    if (chip.name != "coretemp" && chip.name != "k10temp" && chip.name != "zenpower") continue;
    const auto wanted = std::ranges::find_if(chip.channels, [](const Channel& channel) {
      const std::string label = channel.label.value_or("");
      return channel.quantity == "temp" && (label.starts_with("Package id") || label == "Tctl");
    });
    if (wanted == chip.channels.end()) continue;
    std::vector<KernelFile> files;
    files.emplace_back(wanted->file);
    if (!readable(files[0])) continue;
    opened.sources.push_back(std::make_unique<MeanOfFiles>(
        described(device_of(chip, *wanted), Quantity::temperature, "celsius",
                  fmt::format("'{}' of {}, hwmon", *wanted->label, chip.name)),
        std::move(files), 1e-3));
  }
}

/// Some of the processors, spread over all of them.
std::vector<int> spread(const std::vector<int>& processors) {
  std::vector<int> chosen;
  const std::size_t count = std::min(most_clocks, processors.size());
  for (std::size_t i = 0; i < count; ++i)
    chosen.push_back(processors[i * processors.size() / count]);
  return chosen;
}

void add_clock(Opened& opened, const Options& options) {
  std::vector<KernelFile> files;
  std::vector<int> read;
  for (int processor : spread(options.cores ? *options.cores : own_cores())) {
    KernelFile file(options.sys /
                    fmt::format("devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", processor));
    if (!readable(file)) continue;
    files.push_back(std::move(file));
    read.push_back(processor);
  }
  if (files.empty()) return;
  opened.sources.push_back(std::make_unique<MeanOfFiles>(
      described("cores", Quantity::clock, "hertz",
                fmt::format("mean clock of the processors {}, cpufreq", ranges(read))),
      std::move(files), 1e3));
}

void add_throttling(Opened& opened, const Options& options) {
  std::set<std::uint64_t> packages;
  for (int processor : options.cores ? *options.cores : own_cores()) {
    const fs::path folder = options.sys / fmt::format("devices/system/cpu/cpu{}", processor);
    const auto package = number_in(folder / "topology/physical_package_id");
    if (!package || !packages.insert(*package).second) continue;
    KernelFile file(folder / "thermal_throttle/package_throttle_total_time_ms");
    if (!readable(file)) continue;
    opened.sources.push_back(std::make_unique<ShareOfTime>(
        described(fmt::format("package-{} throttling", *package), Quantity::utilisation, "fraction",
                  fmt::format("share of the time in which cpu package {} was throttled for heat, "
                              "thermal_throttle",
                              *package)),
        std::move(file)));
  }
}

}  // namespace

Opened open_processors(const Options& options) {
  Opened opened;
  add_temperatures(opened, options.sys);
  add_clock(opened, options);
  add_throttling(opened, options);
  return opened;
}

}  // namespace parajoule::meter
