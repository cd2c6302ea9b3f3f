#include "meter/model.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "base/error.h"
#include "meter/kernel_file.h"
#include "meter/processor_time.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

// A tick is 10 ms, so shares over less than half a second are coarse; and on machines with many
// interrupts the kernel takes milliseconds to write /proc/stat.
constexpr Seconds update_period{0.5};
constexpr Seconds tick{0.01};

class CoresEnergy final : public Source {
 public:
  CoresEnergy(Description description, Utilisation utilisation, PowerModel model, int cores)
      : description_(std::move(description)),
        utilisation_(std::move(utilisation)),
        model_(model),
        cores_(cores) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto share = utilisation_.read();
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, "/proc/stat: " + failure->text};
    if (!last_) last_ = now;
    if (const auto utilisation = std::get<std::optional<double>>(share)) {
      total_ += model_.power(*utilisation, cores_) * (now - *last_);
      last_ = now;
    }
    return total_.value;
  }

 private:
  Description description_;
  Utilisation utilisation_;
  PowerModel model_;
  int cores_;
  std::optional<Seconds> last_;
  Joules total_;
};

class CoresUtilisation final : public Source {
 public:
  CoresUtilisation(Description description, Utilisation utilisation)
      : description_(std::move(description)), utilisation_(std::move(utilisation)) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds) override {
    const auto share = utilisation_.read();
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, "/proc/stat: " + failure->text};
    if (const auto utilisation = std::get<std::optional<double>>(share)) return *utilisation;
    return Gap{Gap::Cause::failed, "no tick of the kernel since the last reading"};
  }

 private:
  Description description_;
  Utilisation utilisation_;
};

class ConstantPower final : public Source {
 public:
  ConstantPower(Description description, Watts power)
      : description_(std::move(description)), power_(power) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    if (!first_) first_ = now;
    return (power_ * (now - *first_)).value;
  }

 private:
  Description description_;
  Watts power_;
  std::optional<Seconds> first_;
};

base::Error unusable(const fs::path& file, const std::string& why) {
  return {base::Fault::environment,
          fmt::format("cannot model power: {}: {}; is /proc mounted?", file.string(), why)};
}

/// Of the line `key: 123 kB` or `key : words`.
std::optional<std::string> value_of(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::size_t colon = line.find(':');
    if (line.starts_with(key) && colon != std::string_view::npos) {
      const std::size_t begin = line.find_first_not_of(' ', colon + 1);
      return begin == std::string_view::npos ? "" : std::string(line.substr(begin));
    }
    if (text.find('\n', at) == std::string_view::npos) break;
  }
  return {};
}

std::optional<std::string> value_in(const fs::path& file, std::string_view key) {
  const auto read = KernelFile(file).text();
  const auto* text = std::get_if<std::string>(&read);
  return text ? value_of(*text, key) : std::nullopt;
}

/// Distinct cores under the processors; where the kernel does not tell, one each.
int physical_cores(const fs::path& sys, const std::vector<int>& processors) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> cores;
  for (int processor : processors) {
    const fs::path topology = sys / fmt::format("devices/system/cpu/cpu{}/topology", processor);
    const auto package = number_in(topology / "physical_package_id");
    const auto core = number_in(topology / "core_id");
    if (!package || !core) return int(processors.size());
    cores.emplace(*package, *core);
  }
  return int(cores.size());
}

/// What the run's control group may use at most, if that is less than the machine has.
std::optional<double> allowed_bytes(const Options& options) {
  const auto read = KernelFile(options.proc / "self/cgroup").text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text) return {};
  const auto path = [&](std::string_view key) {
    const std::size_t at = text->find(key);
    if (at == std::string::npos) return std::string();
    const std::size_t begin = at + key.size() + 1;  // without the slash it begins with
    return text->substr(begin, text->find('\n', at) - begin);
  };
  const fs::path groups = options.sys / "fs/cgroup";
  for (const fs::path& file : {groups / path("0::") / "memory.max",
                               groups / "memory" / path(":memory:") / "memory.limit_in_bytes"})
    if (const auto bytes = number_in(file)) return double(*bytes);
  return {};
}

double memory_gib(const Options& options) {
  const fs::path file = options.proc / "meminfo";
  const auto total = value_in(file, "MemTotal");
  const double kib = total ? std::strtod(total->c_str(), nullptr) : 0;
  if (!(kib > 0)) throw unusable(file, "has no MemTotal");
  const double bytes = std::min(kib * 1024, allowed_bytes(options).value_or(kib * 1024));
  return bytes / double(1 << 30);
}

std::string cores_covered(const Machine& machine) {
  return fmt::format("{} cores with the processors {} of {}: all that runs on them", machine.cores,
                     ranges(machine.processors), machine.processor);
}

Description cores_energy(const Machine& machine, const PowerModel& model) {
  const Watts peak = model.power(1, machine.cores);
  std::string clock = "not known";
  if (machine.highest_hertz) clock = fmt::format("{:.2f} GHz", *machine.highest_hertz * 1e-9);
  return {.device = "cores",
          .device_kind = "cpu",
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::modelled,
          .covers = cores_covered(machine),
          .resolution = (peak * tick).value,
          .update_period = update_period,
          .bias_relative = model.core_bias,
          .formula = fmt::format(
              "integral of P dt; P = {} cores x ({} W + ({} W - {} W) u^{}); u: busy share of the "
              "processors in /proc/stat, in source 'utilisation' of this device; highest clock "
              "(not used): {}",
              machine.cores, model.idle_per_core.value, model.peak_per_core.value,
              model.idle_per_core.value, model.exponent, clock)};
}

Description cores_utilisation(const Machine& machine) {
  return {.device = "cores",
          .device_kind = "cpu",
          .quantity = Quantity::utilisation,
          .unit = "fraction",
          .label = Label::measured,
          .covers = cores_covered(machine),
          .resolution = tick / update_period / double(machine.processors.size()),
          .update_period = update_period,
          .formula =
              "busy ticks / all ticks since the last reading; busy: user, nice, system, irq, "
              "softirq of /proc/stat"};
}

}  // namespace

Watts PowerModel::power(double utilisation, int cores) const {
  const Watts dynamic = (peak_per_core - idle_per_core) * std::pow(utilisation, exponent);
  return (idle_per_core + dynamic) * cores;
}

Machine machine(const Options& options) {
  Machine found{.processors = options.cores ? *options.cores : own_cores(),
                .cores = 0,
                .processor = "an unnamed processor",
                .memory_gib = memory_gib(options)};
  std::ranges::sort(found.processors);
  const auto repeated = std::ranges::unique(found.processors);
  found.processors.erase(repeated.begin(), repeated.end());
  base::ensure(!found.processors.empty(), "a run has at least one processor");
  found.cores = physical_cores(options.sys, found.processors);
  if (const auto name = value_in(options.proc / "cpuinfo", "model name")) found.processor = *name;
  const int first = found.processors.front();
  const fs::path clock = fmt::format("devices/system/cpu/cpu{}/cpufreq/cpuinfo_max_freq", first);
  if (const auto kilohertz = number_in(options.sys / clock))
    found.highest_hertz = double(*kilohertz) * 1e3;
  return found;
}

std::vector<std::unique_ptr<Source>> model_cores(const Options& options, const Machine& machine,
                                                 const PowerModel& model) {
  const fs::path stat = options.proc / "stat";
  Utilisation utilisation(stat, machine.processors);
  const auto readable = KernelFile(stat).text();
  if (const auto* failure = std::get_if<Failure>(&readable)) throw unusable(stat, failure->text);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<CoresEnergy>(cores_energy(machine, model),
                                                  std::move(utilisation), model, machine.cores));
  sources.push_back(std::make_unique<CoresUtilisation>(cores_utilisation(machine),
                                                       Utilisation(stat, machine.processors)));
  return sources;
}

std::unique_ptr<Source> model_memory(const Machine& machine, const PowerModel& model) {
  const Watts power = model.memory_per_gib * machine.memory_gib;
  Description description{
      .device = "memory",
      .device_kind = "memory",
      .quantity = Quantity::energy,
      .unit = "joules",
      .label = Label::modelled,
      .covers = fmt::format("{:.1f} GiB of main memory, used or not", machine.memory_gib),
      .update_period = update_period,
      .bias_relative = model.memory_bias,
      .formula = fmt::format("integral of P dt; P = {} W a GiB x {:.1f} GiB, whatever it does",
                             model.memory_per_gib.value, machine.memory_gib)};
  return std::make_unique<ConstantPower>(std::move(description), power);
}

std::vector<int> own_cores() {
  // The kernel's mask may be wider than cpu_set_t; 8192 is more than it can be built for.
  constexpr int most = 8192;
  cpu_set_t* set = CPU_ALLOC(most);
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, bytes, set) == 0)
    for (int core = 0; core < most; ++core)
      if (CPU_ISSET_S(std::size_t(core), bytes, set)) cores.push_back(core);
  CPU_FREE(set);
  return cores;
}

}  // namespace parajoule::meter
