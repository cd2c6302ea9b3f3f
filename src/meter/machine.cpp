#include "meter/machine.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sched.h>

#include "meter/kernel_file.h"
#include "meter/memory_modules.h"

namespace parajoule::meter {

namespace fs = std::filesystem;

namespace {

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
    const std::string name = group_named(*text, key);
    return name.empty() ? name : name.substr(1);
  };
  const fs::path groups = options.sys / "fs/cgroup";
  for (const fs::path& file : {groups / path("0::") / "memory.max",
                               groups / "memory" / path(":memory:") / "memory.limit_in_bytes"})
    if (const auto bytes = number_in(file)) return double(*bytes);
  return {};
}

void find_memory(const Options& options, Machine& found) {
  const fs::path file = options.proc / "meminfo";
  const auto total = value_in(file, "MemTotal");
  const double kib = total ? std::strtod(total->c_str(), nullptr) : 0;
  if (!(kib > 0)) throw unusable(file, "has no MemTotal");
  const double bytes = std::min(kib * 1024, allowed_bytes(options).value_or(kib * 1024));
  found.memory_gib = bytes / double(1 << 30);
  found.memory_share = bytes / (kib * 1024);
  found.modules = memory_modules(options.sys);
}

}  // namespace

base::Error unusable(const fs::path& file, const std::string& why) {
  return {base::Fault::environment,
          fmt::format("cannot model power: {}: {}; is /proc mounted?", file.string(), why)};
}

Machine machine(const Options& options) {
  Machine found{.processors = options.cores ? *options.cores : own_cores(),
                .cores = 0,
                .processor = "an unnamed processor",
                .memory_gib = 0};
  find_memory(options, found);
  found.group = own_control_group(options);
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
