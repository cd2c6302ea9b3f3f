#include "meter/nvml.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/cuda_visible.h"
#include "meter/gpu.h"
#include "meter/nvml_library.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

class EnergyCounter final : public Source {
 public:
  EnergyCounter(Description description, NvmlLibrary library, const Gpu& gpu)
      : description_(std::move(description)),
        library_(std::move(library)),
        device_(gpu.device),
        counter_({.most = gpu.most}) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto energy = library_.energy(device_);
    if (const auto* failure = std::get_if<NvmlFailure>(&energy))
      return Gap{Gap::Cause::failed, failure->text};
    return counter_.update(std::get<Joules>(energy), now);
  }

 private:
  Description description_;
  NvmlLibrary library_;
  NvmlDevice device_;
  Counter counter_;
};

class PowerSensor final : public Source {
 public:
  PowerSensor(Description description, NvmlLibrary library, const Gpu& gpu, PowerField field)
      : description_(std::move(description)),
        library_(std::move(library)),
        device_(gpu.device),
        most_(gpu.most),
        field_(field) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds) override {
    const auto answer =
        field_ == PowerField::instant ? library_.instant_power(device_) : library_.power(device_);
    if (const auto* failure = std::get_if<NvmlFailure>(&answer))
      return Gap{Gap::Cause::failed, failure->text};
    const Watts power = std::get<Watts>(answer);
    if (power > most_)
      return Gap{Gap::Cause::implausible,
                 fmt::format("{:.0f} W, more than {:.0f} W", power.value, most_.value)};
    return power.value;
  }

 private:
  Description description_;
  NvmlLibrary library_;
  NvmlDevice device_;
  Watts most_;
  PowerField field_;
};

Description described(const Gpu& gpu, std::string_view interface) {
  return {.device = gpu.title(),
          .device_kind = "gpu",
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::measured,
          .covers = fmt::format("{} {} ({}), {}, NVML {}, driver {}; {}", gpu.title(), gpu.name,
                                gpu.names.uuid, scope_of(gpu), interface, gpu.driver, untried),
          .resolution = 1e-3,
          .update_period = Seconds(0.1),
          .bias_relative = bias_of(gpu),
          .formula = "differences of nvmlDeviceGetTotalEnergyConsumption"};
}

Description described(const Gpu& gpu, PowerField field) {
  const bool instant = field == PowerField::instant;
  Description description =
      described(gpu, instant ? "power of the moment" : "power as nvidia-smi shows it");
  description.quantity = Quantity::power;
  description.unit = "watts";
  description.update_period = power_update_of(gpu);
  description.window = window_of(gpu, field);
  description.formula = instant ? "NVML_FI_DEV_POWER_INSTANT, energy by the trapezoid rule"
                                : "nvmlDeviceGetPowerUsage, energy by the trapezoid rule";
  return description;
}

/// One more use of the library; it is open already, so that works.
NvmlLibrary again(const std::string& name) {
  return std::get<NvmlLibrary>(NvmlLibrary::open(name));
}

std::optional<PowerField> power_field(const NvmlLibrary& library, const Gpu& gpu) {
  const auto works = [](const NvmlAnswer<Watts>& answer) {
    return std::holds_alternative<Watts>(answer);
  };
  if (works(library.instant_power(gpu.device))) return PowerField::instant;
  if (works(library.power(gpu.device))) return PowerField::usage;
  return {};
}

void open_gpu(const Options& options, const NvmlLibrary& library, const Gpu& gpu, Opened& opened) {
  const auto energy = library.energy(gpu.device);
  const auto field = power_field(library, gpu);
  const auto* failed = std::get_if<NvmlFailure>(&energy);
  if (!failed)
    opened.sources.push_back(std::make_unique<EnergyCounter>(described(gpu, "energy counter"),
                                                             again(options.nvml), gpu));
  if (field) {
    Description description = described(gpu, *field);
    if (failed) *description.formula += fmt::format("; no energy counter: {}", failed->text);
    opened.sources.push_back(
        std::make_unique<PowerSensor>(std::move(description), again(options.nvml), gpu, *field));
  }
  if (failed && !field)
    opened.unavailable.push_back(
        {.what = fmt::format("{} {}", gpu.title(), gpu.name),
         .reason = fmt::format("tells neither energy nor power: {}", failed->text),
         .remedy = "none here (usual for virtual GPUs): meter it on its host"});
}

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
      opened.unavailable.push_back(
          {"CUDA_VISIBLE_DEVICES", remark, "`nvidia-smi -L` lists what there is"});
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
       "export CUDA_DEVICE_ORDER=PCI_BUS_ID, or name GPUs by their UUIDs"});
}

}  // namespace

Opened open_nvml(const Options& options) {
  Opened opened;
  const auto library = NvmlLibrary::open(options.nvml);
  if (const auto* failed = std::get_if<NvmlFailure>(&library)) {
    opened.unavailable.push_back({"NVIDIA GPUs", failed->text,
                                  "if there is one, install its driver (Debian: nvidia-driver)"});
    return opened;
  }
  const NvmlLibrary& nvml = std::get<NvmlLibrary>(library);
  const std::vector<Gpu> gpus = all_gpus(nvml, opened);
  const auto texts = visible_texts(options);
  const std::set<std::size_t> seen =
      texts ? visible(*texts, gpus, opened) : std::set<std::size_t>();
  doubt_numbers(options, gpus, opened);
  for (const Gpu& gpu : gpus) {
    if (!gpu.device) continue;
    if (!texts || seen.contains(gpu.index)) {
      open_gpu(options, nvml, gpu, opened);
      continue;
    }
    opened.unavailable.push_back({fmt::format("{} {}", gpu.title(), gpu.name),
                                  "not of this run: CUDA_VISIBLE_DEVICES leaves it out",
                                  "none needed"});
  }
  return opened;
}

}  // namespace parajoule::meter
