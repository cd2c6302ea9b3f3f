#include "rehearse/machine.h"

#include "rehearse/toml_table.h"

namespace parajoule::rehearse {
namespace {

simulate::Link link_in(TomlTable table) {
  simulate::Link link{.latency = base::Seconds(table.number("latency_seconds", 0)),
                      .bytes_per_second = table.number("bytes_per_second", 1),
                      .shared_by = int(table.whole_or("shared_by", 1, 1)),
                      .half_duplex = table.flag_or("half_duplex", false)};
  table.finish();
  return link;
}

void take_device(Machine& machine, TomlTable table) {
  machine.device_kind = table.word("kind");
  TomlTable flops = table.table("flops_per_second");
  for (const std::string& precision : flops.keys())
    machine.flops_per_second[precision] = flops.number(precision, 1);
  machine.memory_bytes = table.number("memory_bytes", 1);
  machine.device = {.memory_bytes_per_second = table.number("memory_bytes_per_second", 1),
                    .idle = {table.number("idle_watts", 0)},
                    .compute = {table.number("compute_watts", 0)},
                    .communicate = {table.number("communicate_watts", 0)}};
  table.finish();
}

Machine machine_of(TomlTable file) {
  Machine machine;
  machine.name = file.word("name");
  machine.source = file.word("source");
  take_device(machine, file.table("device"));
  TomlTable node = file.table("node");
  machine.devices = int(node.whole("devices", 1));
  machine.cores = int(node.whole("cores", 1));
  machine.host = {node.number("host_watts", 0)};
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
