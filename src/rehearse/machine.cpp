#include "rehearse/machine.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/text.h"
#include "rehearse/toml_table.h"

namespace parajoule::rehearse {
namespace {

// Above these no machine is meant, and below them time and energy stay numbers.
constexpr double most_seconds = 1e6, most_watts = 1e9;

constexpr std::array<std::string_view, 2> kinds{"cpu", "gpu"};

simulate::Link link_in(TomlTable table) {
  simulate::Link link{.latency = base::Seconds(table.number("latency_seconds", 0, most_seconds)),
                      .bytes_per_second = table.number("bytes_per_second", 1),
                      .shared_by = table.count("shared_by", 1),
                      .half_duplex = table.flag_or("half_duplex", false)};
  link.eager_bytes = std::size_t(table.whole_or("eager_bytes", 0, 0));
  table.finish();
  return link;
}

void take_device(Machine& machine, TomlTable table) {
  machine.device_kind = table.word("kind");
  if (std::ranges::find(kinds, machine.device_kind) == kinds.end())
    table.refuse("kind", fmt::format("no kind \"{}\"{}", base::shown(machine.device_kind),
                                     base::hint(machine.device_kind, kinds)));
  TomlTable flops = table.table("flops_per_second");
  for (const std::string& precision : flops.keys())
    machine.flops_per_second[precision] = flops.number(precision, 1);
  machine.memory_bytes = table.number("memory_bytes", 1);
  machine.device = {.memory_bytes_per_second = table.number("memory_bytes_per_second", 1),
                    .idle = {table.number("idle_watts", 0, most_watts)},
                    .compute = {table.number("compute_watts", 0, most_watts)},
                    .communicate = {table.number("communicate_watts", 0, most_watts)}};
  if (machine.device.idle > machine.device.compute)
    table.refuse("idle_watts",
                 fmt::format("{} is more than compute_watts, {}: computing would "
                             "save energy",
                             machine.device.idle.value, machine.device.compute.value));
  table.finish();
}

Machine machine_of(TomlTable file) {
  constexpr std::array<std::string_view, 6> tables{"version", "name", "source",
                                                   "device",  "node", "link"};
  file.allow_only(tables);
  Machine machine;
  machine.name = file.word("name");
  machine.source = file.word("source");
  take_device(machine, file.table("device"));
  TomlTable node = file.table("node");
  machine.devices = node.count("devices");
  machine.cores = node.count("cores");
  machine.host = {node.number("host_watts", 0, most_watts)};
  node.finish();
  TomlTable links = file.table("link");
  machine.node = link_in(links.table("node"));
  machine.network = link_in(links.table("network"));
  links.finish();
  file.finish();
  return machine;
}

}  // namespace

Machine read_machine(const std::string& path) { return machine_of(TomlTable::of_file(path)); }
Machine machine_in(const std::string& text, const std::string& path) {
  return machine_of(TomlTable::of_text(text, path));
}

}  // namespace parajoule::rehearse
