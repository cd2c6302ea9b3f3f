#include <algorithm>
#include <array>

#include "cli/rank.h"

namespace parajoule::cli {
namespace {

// Neither where nor how fast: with any of these changed a run may be resumed.
constexpr std::array<std::string_view, 19> besides = {
    "ranks",           "ranks_per_node", "local_batch_size",       "threads",
    "version",         "loader_threads", "checkpoint_every_steps", "checkpoints",
    "records",         "recipe",         "check_collectives",      "stall_seconds",
    "give_up_seconds", "sampling_hertz", "meter_profile",          "settling_steps",
    "on_bad_sample",   "on_nan",         "on_no_gradient"};

// What each rank may have of its own.
constexpr std::array<std::string_view, 3> own = {"threads", "loader_threads", "records"};

/// In the order of the keys, a line each.
template <class Names>
std::string settings_without(const Names& names, const train::Experiment& experiment) {
  std::vector<std::string> lines;
  for (const train::Setting& setting : experiment.settings) {
    if (std::ranges::find(names, setting.key) != names.end()) continue;
    lines.push_back(setting.key + " = " + setting.value + "\n");
  }
  std::ranges::sort(lines);
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

}  // namespace

RunIdentity identity_of(const train::Experiment& experiment) {
  return {.name = experiment.name, .settings = settings_without(besides, experiment)};
}

std::string common_settings(const train::Experiment& experiment) {
  return settings_without(own, experiment);
}

}  // namespace parajoule::cli
