#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "cli/doctor.h"
#include "meter/kernel_file.h"
#include "meter/machine.h"

namespace parajoule::cli {

namespace fs = std::filesystem;
using State = Finding::State;
using meter::line_of;
using meter::number_in;

namespace {

constexpr double gibibyte = double(1 << 30);

/// 0-3,8 as five numbers.
std::size_t count_of(std::string_view ranges) {
  std::size_t count = 0;
  while (!ranges.empty()) {
    const std::string part(ranges.substr(0, ranges.find(',')));
    ranges.remove_prefix(std::min(ranges.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const long first = std::strtol(part.c_str(), nullptr, 10);
    const long last = dash == part.npos ? first : std::strtol(part.c_str() + dash + 1, nullptr, 10);
    if (last >= first) count += std::size_t(last - first) + 1;
  }
  return count;
}

std::size_t online(const Patient& patient) {
  const auto ranges = line_of(patient.sys / "devices/system/cpu/online");
  return ranges ? count_of(*ranges) : patient.processors.size();
}

meter::Options options_of(const Patient& patient) {
  return {.sys = patient.sys, .proc = patient.proc, .cores = patient.processors};
}

void look_at_processor(const Patient& patient, Findings& findings) {
  try {
    const meter::Machine machine = meter::machine(options_of(patient));
    findings.push_back({State::ok, "processor",
                        fmt::format("{}: {} logical processors online; {} cores for this process",
                                    machine.processor, online(patient), machine.cores)});
    findings.push_back(
        {State::ok, "memory", fmt::format("{:.1f} GiB for this process", machine.memory_gib)});
  } catch (const base::Error& error) {
    findings.push_back({State::wrong, "processor", error.what(), "mount -t proc proc /proc"});
  }
}

void look_at_affinity(const Patient& patient, Findings& findings) {
  const std::size_t all = online(patient);
  if (patient.processors.size() >= all) return;
  findings.push_back(
      {State::worth_knowing, "affinity",
       fmt::format("this process may run on {} of {} logical processors: {}",
                   patient.processors.size(), all, meter::ranges(patient.processors)),
       "ask whoever started it for more: srun --cpus-per-task=N, docker run --cpuset-cpus=..., or "
       "taskset"});
}

/// Whether `name` is one of those in `cpu,cpuacct`.
bool among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const std::string_view first = names.substr(0, names.find(','));
    if (first == name) return true;
    names.remove_prefix(std::min(names.size(), first.size() + 1));
  }
  return false;
}

/// The folder of this process's control group: of version 2, or of the controller given. In a
/// container its path may be that outside of it: then the container's own root.
std::optional<fs::path> cgroup(const Patient& patient, std::string_view controller) {
  const auto read = meter::KernelFile(patient.proc / "self/cgroup").text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text) return {};
  for (std::string_view rest = *text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? !names.empty() : !among(names, controller)) continue;
    const fs::path root = patient.sys / "fs/cgroup" / controller;
    const fs::path own = root / line.substr(std::min(line.size(), second + 2));
    std::error_code error;
    return fs::exists(own, error) ? own : root;
  }
  return {};
}

/// How many processors' worth of time the control group gets, if that is limited.
std::optional<double> time_limit(const Patient& patient) {
  if (const auto group = cgroup(patient, "")) {
    const std::string text = line_of(*group / "cpu.max").value_or("max");
    char* rest = nullptr;
    const double quota = std::strtod(text.c_str(), &rest);
    const double period = std::strtod(rest, nullptr);
    if (rest != text.c_str() && period > 0) return quota / period;
  }
  if (const auto group = cgroup(patient, "cpu")) {
    const auto quota = number_in(*group / "cpu.cfs_quota_us");
    const auto period = number_in(*group / "cpu.cfs_period_us");
    if (quota && period && *period > 0) return double(*quota) / double(*period);
  }
  return {};
}

void look_at_limits(const Patient& patient, Findings& findings) {
  const auto limit = time_limit(patient);
  if (!limit || *limit >= double(patient.processors.size())) return;
  findings.push_back(
      {State::worth_knowing, "limits",
       fmt::format("the control group may use {:.1f} processors' time, of {} it may run on: "
                   "threads above that are stopped again and again",
                   *limit, patient.processors.size()),
       fmt::format("run {} threads, or raise the limit (docker run --cpus=N)",
                   std::max(1, int(*limit)))});
}

/// Weights and gradients of the ranks of a node lie there.
void look_at_shared_memory(const Patient& patient, Findings& findings) {
  constexpr double enough = gibibyte;
  const fs::path folder = patient.dev / "shm";
  const auto size = patient.size_of(folder);
  const std::string remedy = "docker run --shm-size=8g, or: sudo mount -o remount,size=8G /dev/shm";
  if (!size) {
    findings.push_back({State::wrong, "shared memory",
                        "there is no /dev/shm: ranks of one node "
                        "cannot sum their gradients",
                        remedy});
    return;
  }
  const bool small = double(*size) < enough;
  findings.push_back({small ? State::worth_knowing : State::ok, "shared memory",
                      fmt::format("/dev/shm holds {:.1f} GiB{}", double(*size) / gibibyte,
                                  small ? ": too little for larger models" : ""),
                      small ? remedy : ""});
}

void look_at_clock(const Patient& patient, Findings& findings) {
  const auto name =
      line_of(patient.sys / "devices/system/clocksource/clocksource0/current_clocksource");
  if (!name) return;
  static const std::set<std::string_view> slow = {"hpet", "acpi_pm", "jiffies", "refined-jiffies",
                                                  "pit"};
  const bool bad = slow.contains(*name);
  findings.push_back({bad ? State::worth_knowing : State::ok, "clock",
                      fmt::format("the kernel's clock is {}{}", *name,
                                  bad ? ": each look at the time costs a microsecond or more, and "
                                        "that of a core's own clock was found unsteady"
                                      : ""),
                      bad ? "look for 'clocksource' in `dmesg`; tsc=reliable on the kernel's "
                            "command line forces the quick one"
                          : ""});
}

void look_at_governor(const Patient& patient, Findings& findings) {
  std::set<std::string> governors;
  for (const int processor : patient.processors) {
    const fs::path file =
        fmt::format("devices/system/cpu/cpu{}/cpufreq/scaling_governor", processor);
    if (const auto governor = line_of(patient.sys / file)) governors.insert(*governor);
  }
  if (governors.empty()) {
    findings.push_back(
        {State::ok, "governor",
         "who sets the clock of the cores is not shown (usual in virtual machines)"});
    return;
  }
  const bool steady = governors == std::set<std::string>{"performance"};
  findings.push_back(
      {steady ? State::ok : State::worth_knowing, "governor",
       fmt::format("the clock of the cores is set by: {}{}", fmt::join(governors, ", "),
                   steady ? "" : "; times and energies of short runs scatter more"),
       steady ? "" : "sudo cpupower frequency-set -g performance"});
}

}  // namespace

Findings machine_findings(const Patient& patient) {
  Findings findings;
  for (const auto look : {look_at_processor, look_at_affinity, look_at_limits,
                          look_at_shared_memory, look_at_clock, look_at_governor})
    look(patient, findings);
  return findings;
}

}  // namespace parajoule::cli
