#include <algorithm>
#include <iterator>

#include "meter/gpu.h"

namespace parajoule::meter {

using base::Seconds;
using Generation = NvmlArchitecture;

namespace {

/// One line of the paper's results, in milliseconds; 0: no window is known.
struct Line {
  Generation generation;
  std::string_view model;   ///< empty: all others of the generation
  std::string_view driver;  ///< its branch; empty: all others
  double update;
  double usage_window;  ///< of nvmlDeviceGetPowerUsage
  double instant_window;
};

/// The first line that fits holds.
constexpr Line lines[] = {
    {Generation::kepler, "K40", "", 15, 0, 0},
    {Generation::kepler, "", "", 100, 0, 0},
    {Generation::maxwell, "M40", "", 31, 14, 14},
    {Generation::maxwell, "", "", 100, 0, 0},
    {Generation::pascal, "", "", 20, 10, 10},
    {Generation::volta, "", "", 20, 10, 10},
    {Generation::turing, "RTX 8000", "", 100, 20, 20},
    {Generation::turing, "", "", 100, 100, 100},
    {Generation::ampere, "", "530.", 100, 100, 100},
    {Generation::ampere, "RTX A5000", "", 100, 1000, 80},
    {Generation::ampere, "", "", 100, 1000, 100},
    {Generation::ada, "", "530.", 100, 110, 110},
    {Generation::ada, "", "", 100, 1000, 110},
    {Generation::hopper, "", "", 100, 1000, 25},
};

/// GA100 samples a quarter of the time, whatever it is asked for.
constexpr Line ga100{Generation::ampere, "", "", 100, 25, 25};

/// By NVML's documentation: from Ampere on the mean of a second, unless asked for the moment.
constexpr Line younger{Generation::hopper, "", "", 100, 1000, 0};

Line line_of(const Gpu& gpu) {
  if (is_ga100(gpu.name)) return ga100;
  const auto fits = [&](const Line& line) {
    return line.generation == *gpu.architecture && gpu.driver.starts_with(line.driver) &&
           (line.model.empty() || is_model(gpu.name, line.model));
  };
  const auto found = std::ranges::find_if(lines, fits);
  return found == std::end(lines) ? younger : *found;
}

}  // namespace

PowerTiming power_timing(const Gpu& gpu, PowerField field) {
  if (field == PowerField::average) return {.update = Seconds(0.1), .window = Seconds(1)};
  if (!gpu.architecture) return {.update = Seconds(0.1)};
  const Line line = line_of(gpu);
  const double window = field == PowerField::usage ? line.usage_window : line.instant_window;
  PowerTiming timing{.update = Seconds(line.update * 1e-3)};
  if (window > 0) timing.window = Seconds(window * 1e-3);
  return timing;
}

}  // namespace parajoule::meter
