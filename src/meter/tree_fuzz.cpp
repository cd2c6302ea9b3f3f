// Files of /sys and /proc as the kernel, or whoever made them, may show them: whatever they hold,
// no source gives a number that cannot be, and each that is not there says why.
//
// The input is a text; each line that begins with / names a file, and the lines up to the next one
// are what it holds.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "meter/cray.h"
#include "meter/hwmon.h"
#include "meter/made_up_perf.h"
#include "meter/made_up_tree.h"
#include "meter/processors.h"
#include "meter/rapl.h"

using namespace parajoule::meter;
namespace fs = std::filesystem;

namespace {

void claim(bool holds) {
  if (!holds) std::abort();
}

/// A path that stays in the tree and is no longer than the kernel's.
bool plain(std::string_view path) {
  return path.size() < 150 && path.find("..") == path.npos && path.find('\0') == path.npos &&
         std::ranges::count(path, '/') < 10 &&
         (path.starts_with("/sys/") || path.starts_with("/proc/"));
}

void write_tree(const MadeUpTree& tree, std::string_view text) {
  std::string name, held;
  int files = 0;
  const auto put = [&] {
    // Where the input wants a file in place of a folder, there is none.
    std::error_code taken;
    const fs::path file = tree.root() / name;
    if (name.empty() || ++files > 60) return;
    fs::create_directories(file.parent_path(), taken);
    if (!taken && !fs::is_directory(file, taken)) tree.write(name, held);
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('/')) {
      put();
      name = plain(line) ? line.substr(1) : "";
      held.clear();
    } else {
      held += line;
      held += '\n';
    }
  }
  put();
}

void check(Opened opened) {
  for (const Unavailable& one : opened.unavailable)
    claim(!one.what.empty() && !one.reason.empty() && !one.remedy.empty());
  for (const auto& source : opened.sources) {
    const Description& description = source->description();
    claim(!description.device.empty() && !description.device_kind.empty());
    claim(description.covers.ends_with(untried) || description.quantity == Quantity::temperature ||
          description.quantity == Quantity::clock || description.quantity == Quantity::utilisation);
    double last = -1;
    for (int i = 0; i < 3; ++i) {
      const Reading reading = source->read(parajoule::base::Seconds(0.1 * i));
      const double* value = std::get_if<double>(&reading);
      if (!value) continue;
      claim(std::isfinite(*value));
      if (description.quantity == Quantity::energy) claim(*value >= last);
      if (description.quantity == Quantity::power) claim(*value >= 0);
      last = *value;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const char* letters, std::size_t count) {
  if (count > 20'000) return 0;
  const MadeUpTree tree;
  write_tree(tree, std::string_view(letters, count));
  MadeUpPerf perf;
  Options options = tree.options();
  options.perf = perf.opener();
  options.cores = std::vector<int>{0, 1};
  check(open_rapl(options));
  check(open_hwmon(options));
  check(open_cray(options));
  check(open_processors(options));
  return 0;
}
