#include "meter/control_group.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Seconds;

namespace {

/// `/a/job_17` of `/a/job_17/step_0/user/task_3`.
std::string whole_job(const std::string& name) {
  for (std::size_t at = 0; at != std::string::npos; at = name.find('/', at + 1)) {
    const std::size_t end = name.find('/', at + 1);
    if (std::string_view(name).substr(at).starts_with("/job_")) return name.substr(0, end);
  }
  return name;
}

}  // namespace

std::string group_named(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    const std::string_view name = line.substr(at + key.size());
    return name.starts_with('/') ? std::string(name) : std::string();
  }
  return {};
}

std::optional<ControlGroup> own_control_group(const Options& options) {
  const auto read = KernelFile(options.proc / "self/cgroup").text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text || !(text->starts_with("0::") || text->find("\n0::") != std::string::npos)) return {};
  const std::string name = whole_job(group_named(*text, "0::"));
  if (name.empty() || name.find("/..") != std::string::npos) return {};
  ControlGroup group{name, options.sys / "fs/cgroup" / name.substr(1)};
  // Every group has this file but the machine's own, which a container does not see.
  std::error_code none;
  if (!fs::exists(group.folder / "cgroup.events", none)) return {};
  return group;
}

std::optional<Seconds> processor_time_in(std::string_view text) {
  constexpr std::string_view key = "usage_usec ";
  if (!text.starts_with(key)) {
    const std::size_t line = text.find("\nusage_usec ");
    if (line == std::string_view::npos) return {};
    text.remove_prefix(line + 1);
  }
  text.remove_prefix(key.size());
  unsigned long long microseconds = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), microseconds);
  const bool whole = error == std::errc() && (rest == text.data() + text.size() || *rest == '\n');
  return whole ? std::optional(Seconds(double(microseconds) * 1e-6)) : std::nullopt;
}

}  // namespace parajoule::meter
