#include "meter/rapl_unit.h"

#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "meter/kernel_file.h"

namespace parajoule::meter {

namespace {

bool is_sapphire_rapids(std::string_view cpuinfo) {
  const auto says = [&](std::string_view line) {
    const std::size_t at = cpuinfo.find(line);
    if (at == std::string_view::npos) return false;
    const std::size_t end = at + line.size();
    return end == cpuinfo.size() || cpuinfo[end] == '\n';
  };
  return says("vendor_id\t: GenuineIntel") && says("cpu family\t: 6") && says("model\t\t: 143");
}

}  // namespace

std::optional<UnitDoubt> memory_unit_doubt(const Options& options, Reach reach) {
  const auto read = KernelFile(options.proc / "cpuinfo").text();
  const auto* text = std::get_if<std::string>(&read);
  if (!text || !is_sapphire_rapids(*text)) return {};
  const auto release = line_of(options.proc / "sys/kernel/osrelease");
  int major = 0, minor = 0;
  const bool known = release && std::sscanf(release->c_str(), "%d.%d", &major, &minor) == 2;
  if (known && (major > 6 || (major == 6 && minor >= 1))) return {};
  return UnitDoubt{
      .words = fmt::format("may show a quarter of it: kernel {} may lack commit {}, which mends "
                           "the unit on Sapphire Rapids",
                           release.value_or("of unknown number"),
                           reach == Reach::perf ? "80275ca9e525" : "4c081324df56"),
      .bias = 3};
}

}  // namespace parajoule::meter
