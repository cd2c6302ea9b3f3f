#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/doctor.h"
#include "cli/process.h"
#include "meter/kernel_file.h"
#include "meter/nvml_library.h"
#include "meter/rapl_zones.h"

namespace parajoule::cli {

namespace fs = std::filesystem;
using State = Finding::State;

namespace {

// Numbers of capabilities, of <linux/capability.h>; the younger ones are not in every header.
constexpr int dac_read_search = 2;
constexpr int perfmon = 38;

enum class Access { absent = 1, open, closed };

/// Whether a file can be opened for reading, for whoever asks: permission bits alone do not say.
Access access_to(const fs::path& file, int mode = O_RDONLY) {
  if (std::error_code error; !fs::exists(file, error)) return Access::absent;
  const int descriptor = ::open(file.c_str(), mode | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return Access::closed;
  ::close(descriptor);
  return Access::open;
}

/// Of all counters of the powercap tree: closed if one of them is.
Access powercap(const Patient& patient) {
  Access found = Access::absent;
  for (const meter::Zone& zone : meter::rapl_zones(patient.sys)) {
    const Access access = access_to(zone.folder / "energy_uj");
    if (access == Access::closed) return access;
    if (access == Access::open) found = access;
  }
  return found;
}

/// A set of capabilities of this process, `CapEff` or `CapBnd`.
std::uint64_t capabilities(const Patient& patient, std::string_view set) {
  const auto read = meter::KernelFile(patient.proc / "self/status").text();
  const auto* text = std::get_if<std::string>(&read);
  const std::size_t at = text ? text->find(fmt::format("\n{}:", set)) : std::string::npos;
  if (at == std::string::npos) return 0;
  return std::strtoull(text->c_str() + at + set.size() + 2, nullptr, 16);
}

bool has(std::uint64_t set, int capability) { return (set >> capability & 1) != 0; }

void look_at_powercap(const Patient& patient, Findings& findings) {
  switch (powercap(patient)) {
    case Access::absent:
      findings.push_back({State::worth_knowing, "RAPL",
                          "no powercap counters: processors and memory are modelled",
                          "sudo modprobe intel_rapl_msr (in a virtual machine nothing helps)"});
      return;
    case Access::closed:
      findings.push_back(
          {State::worth_knowing, "RAPL", "the powercap counters are there, but closed to this user",
           "sudo chmod a+r /sys/class/powercap/intel-rapl*/energy_uj (until the next "
           "start; `parajoule doctor --admin` has the lasting line)"});
      return;
    case Access::open:
      findings.push_back({State::ok, "RAPL", "the powercap counters can be read"});
  }
}

std::optional<int> paranoia(const Patient& patient) {
  const auto text = meter::line_of(patient.proc / "sys/kernel/perf_event_paranoid");
  if (!text) return {};
  return int(std::strtol(text->c_str(), nullptr, 10));
}

bool perf_is_there(const Patient& patient) {
  std::error_code error;
  return fs::exists(patient.sys / "bus/event_source/devices/power", error);
}

bool perf_is_open(const Patient& patient) {
  return paranoia(patient).value_or(2) <= 0 || has(capabilities(patient, "CapEff"), perfmon);
}

void look_at_perf(const Patient& patient, Findings& findings) {
  if (!perf_is_there(patient)) return;
  const int level = paranoia(patient).value_or(2);
  if (perf_is_open(patient)) {
    findings.push_back({State::ok, "perf_event", "the energy counters of perf_event can be read"});
    return;
  }
  findings.push_back(
      {State::worth_knowing, "perf_event",
       fmt::format("energy counters are there, but perf_event_paranoid = {} closes them{}", level,
                   level > 2 ? " even to a process's own events" : ""),
       "sudo sysctl kernel.perf_event_paranoid=0"});
}

/// In a container the bounding set often holds more than the process may use.
void look_at_capabilities(const Patient& patient, Findings& findings) {
  const std::uint64_t effective = capabilities(patient, "CapEff");
  const std::uint64_t bounding = capabilities(patient, "CapBnd");
  const bool counters_closed = powercap(patient) == Access::closed;
  const bool perf_closed = perf_is_there(patient) && !perf_is_open(patient);
  std::string names;
  const auto idle = [&](bool closed, int capability, std::string_view name) {
    if (!closed || has(effective, capability) || !has(bounding, capability)) return;
    names += fmt::format("{}{}", names.empty() ? "" : ",", name);
  };
  idle(counters_closed, dac_read_search, "cap_dac_read_search");
  idle(perf_closed, perfmon, "cap_perfmon");
  if (names.empty()) return;
  findings.push_back(
      {State::worth_knowing, "capabilities",
       fmt::format("{} is in the bounding set only (CapBnd), which does not help: it "
                   "must be in the effective one (CapEff)",
                   names),
       fmt::format("sudo setcap {}+ep {}", names, own_program())});
}

void look_at_ipmi(const Patient& patient, Findings& findings) {
  if (access_to(patient.dev / "ipmi0", O_RDWR) != Access::closed) return;
  findings.push_back({State::worth_knowing, "IPMI",
                      "/dev/ipmi0 is there, but closed to this user: the whole node's power",
                      "`parajoule doctor --admin` has the line for a group that may read it"});
}

/// Of /proc/driver/nvidia/version, the number in its first line.
std::optional<std::string> nvidia_module(const Patient& patient) {
  if (const auto version = meter::line_of(patient.sys / "module/nvidia/version")) return version;
  const auto line = meter::line_of(patient.proc / "driver/nvidia/version");
  const std::size_t at = line ? line->find("Kernel Module") : std::string::npos;
  if (at == std::string::npos) return {};
  const std::size_t begin = line->find_first_of("0123456789", at);
  if (begin == std::string::npos) return {};
  return line->substr(begin, line->find_first_not_of("0123456789.", begin) - begin);
}

void look_at_nvidia(const Patient& patient, Findings& findings) {
  constexpr int versions_differ = 18;  // NVML_ERROR_LIB_RM_VERSION_MISMATCH
  const auto module = nvidia_module(patient);
  const auto library = meter::NvmlLibrary::open(patient.nvml);
  if (const auto* open = std::get_if<meter::NvmlLibrary>(&library)) {
    findings.push_back({State::ok, "NVIDIA", fmt::format("driver {}", open->driver())});
    return;
  }
  const auto& failure = std::get<meter::NvmlFailure>(library);
  if (failure.code == versions_differ) {
    findings.push_back(
        {State::wrong, "NVIDIA",
         fmt::format("the kernel runs driver {}, but the library is of another version: {}",
                     module.value_or("of unknown version"), failure.text),
         "restart the machine, or unload the old driver: sudo rmmod nvidia_uvm nvidia_drm "
         "nvidia_modeset nvidia && sudo modprobe nvidia"});
  } else if (module) {
    findings.push_back(
        {State::wrong, "NVIDIA",
         fmt::format("the kernel runs driver {}, but NVML does not: {}", *module, failure.text),
         "install the library of that driver (Debian: libnvidia-ml1), or start the "
         "container with --gpus all"});
  }
}

}  // namespace

Findings meter_findings(const Patient& patient) {
  Findings findings;
  for (const auto look :
       {look_at_powercap, look_at_perf, look_at_capabilities, look_at_ipmi, look_at_nvidia})
    look(patient, findings);
  return findings;
}

std::vector<AdminLine> admin_lines(const Patient& patient) {
  return {
      {.opens = "RAPL's counters in /sys/class/powercap, to everyone, from now on and after each "
                "start. They are closed since 2020 because a program that reads them often can "
                "learn of what others compute (CVE-2020-8694)",
       .line = R"(echo 'SUBSYSTEM=="powercap", ACTION=="add|change", )"
               R"(RUN+="/bin/chmod -f a+r /sys%p/energy_uj"' )"
               "| sudo tee /etc/udev/rules.d/60-parajoule.rules && sudo udevadm control --reload "
               "&& sudo udevadm trigger --subsystem-match=powercap --action=change",
       .needed = powercap(patient) == Access::closed},
      {.opens = "perf_event for the whole machine, its energy counters among them, to everyone",
       .line = "echo 'kernel.perf_event_paranoid = 0' | sudo tee /etc/sysctl.d/60-parajoule.conf "
               "&& sudo sysctl -p /etc/sysctl.d/60-parajoule.conf",
       .needed = perf_is_there(patient) && !perf_is_open(patient)},
      {.opens = "the same two, to this program alone instead of to everyone; again after each "
                "installation",
       .line = fmt::format("sudo setcap cap_dac_read_search,cap_perfmon+ep {}", own_program()),
       .needed = false},
      {.opens = "the baseboard's meter of the whole node, to the group ipmi; its members can also "
                "switch the machine off",
       .line = R"(sudo groupadd -f ipmi && echo 'KERNEL=="ipmi[0-9]*", GROUP="ipmi", MODE="0660"' )"
               "| sudo tee /etc/udev/rules.d/61-parajoule-ipmi.rules && sudo modprobe ipmi_devintf "
               "&& sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=ipmi",
       .needed = access_to(patient.dev / "ipmi0", O_RDWR) == Access::closed},
  };
}

}  // namespace parajoule::cli
