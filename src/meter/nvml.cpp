#include "meter/nvml.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "meter/cuda_visible.h"
#include "meter/gpu.h"
#include "meter/nvml_library.h"
#include "meter/nvml_sources.h"
#include "meter/turns.h"

namespace parajoule::meter {

namespace {

/// The texts of all ranks of the node together; none: nothing is hidden.
std::optional<std::vector<std::string>> visible_texts(const Options& options) {
  if (options.visible_devices && options.visible_devices->empty()) return {};
  if (options.visible_devices) return options.visible_devices;
  if (const auto own = own_visible_devices()) return std::vector<std::string>{*own};
  return {};
}

std::set<std::size_t> visible(const std::vector<std::string>& texts, const std::vector<Gpu>& gpus,
                              Opened& opened) {
  std::vector<GpuNames> names;
  for (const Gpu& gpu : gpus) names.push_back(gpu.names);
  std::set<std::size_t> seen;
  for (const std::string& text : texts) {
    const VisibleGpus found = visible_gpus(text, names);
    seen.insert(found.gpus.begin(), found.gpus.end());
    for (const std::string& remark : found.remarks)
      opened.unavailable.push_back({"CUDA_VISIBLE_DEVICES", remark,
                                    "`nvidia-smi -L` lists what there is",
                                    Unavailable::State::absent});
  }
  return seen;
}

/// CUDA counts the fastest GPU first unless told to go by the bus, as NVML does. With equal GPUs
/// that is the same; with unequal ones a number may mean another GPU.
void doubt_numbers(const Options& options, const std::vector<Gpu>& gpus, Opened& opened) {
  const auto texts = visible_texts(options).value_or(std::vector<std::string>());
  const bool numbers = std::ranges::any_of(texts, [](const std::string& text) {
    return !text.empty() && !text.starts_with("GPU-") && !text.starts_with("MIG-");
  });
  const auto order = options.device_order ? options.device_order : own_device_order();
  const bool equal =
      std::ranges::all_of(gpus, [&](const Gpu& gpu) { return gpu.name == gpus.front().name; });
  if (!numbers || equal || order == "PCI_BUS_ID") return;
  opened.unavailable.push_back(
      {"CUDA_VISIBLE_DEVICES",
       "the GPUs of this node differ, so its numbers may mean others than those metered",
       "export CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by their UUIDs",
       Unavailable::State::unreadable});
}

}  // namespace

Opened open_nvml(const Options& options) {
  Opened opened;
  auto library = NvmlLibrary::open(options.nvml);
  if (const auto* failed = std::get_if<NvmlFailure>(&library)) {
    opened.unavailable.push_back(
        {.what = "NVIDIA GPUs",
         .reason = failed->text,
         .remedy = "if there is one, install its driver (Debian: nvidia-driver)",
         .state = Unavailable::State::absent});
    return opened;
  }
  const auto nvml = std::make_shared<const NvmlLibrary>(std::get<NvmlLibrary>(std::move(library)));
  const std::vector<Gpu> gpus = all_gpus(*nvml, opened);
  const auto texts = visible_texts(options);
  const std::set<std::size_t> seen =
      texts ? visible(*texts, gpus, opened) : std::set<std::size_t>();
  doubt_numbers(options, gpus, opened);
  std::set<std::string> modules;
  base::Seconds counters{0};
  for (const Gpu& gpu : gpus) {
    if (!gpu.device) continue;
    if (!texts || seen.contains(gpu.index)) {
      counters += open_gpu(nvml, gpu, modules, opened);
      continue;
    }
    opened.unavailable.push_back({.what = fmt::format("{} {}", gpu.title(), gpu.name),
                                  .reason = "not of this run: CUDA_VISIBLE_DEVICES leaves it out",
                                  .remedy = "none needed",
                                  .state = Unavailable::State::left_out});
  }
  if (counters > options.slow_counters) read_counters_apart(opened.sources, counter_period);
  return opened;
}

}  // namespace parajoule::meter
