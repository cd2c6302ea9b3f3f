#include "meter/nvml.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/cuda_visible.h"
#include "meter/nvml_library.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

/// A GPU with all that its descriptions say.
struct Gpu {
  unsigned index;
  NvmlDevice device;
  std::string name;
  std::string driver;
  GpuNames names;
  std::optional<NvmlArchitecture> architecture;
  Watts most;  ///< three times what it may draw

  std::string title() const { return fmt::format("GPU {}", index); }
};

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

enum class PowerField { instant, usage };

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

bool is_ga100(const std::string& name) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"A100", "A800", "A30 ", "CMP 170"},
      [&](std::string_view model) { return (name + " ").find(model) != std::string::npos; });
}

/// Of power, from "Part-time Power Measurements" (Yang, Adamek, Armour; SC 2024, arXiv:2312.02741)
/// and NVML's documentation: GA100 and older give the moment, younger ones the mean of a second
/// unless asked for the moment.
std::optional<Seconds> window_of(const Gpu& gpu, PowerField field) {
  if (!gpu.architecture) return {};
  const bool averages = *gpu.architecture >= NvmlArchitecture::ampere && !is_ga100(gpu.name);
  if (field == PowerField::usage && averages) return Seconds(1);
  if (is_ga100(gpu.name) || *gpu.architecture == NvmlArchitecture::hopper) return Seconds(0.025);
  if (*gpu.architecture <= NvmlArchitecture::volta) return Seconds(0.01);
  return Seconds(0.1);
}

Seconds update_of(const Gpu& gpu) {
  const bool old = gpu.architecture && *gpu.architecture <= NvmlArchitecture::volta;
  return Seconds(old ? 0.02 : 0.1);
}

/// 95 % bounds against external meters, from the same paper: A100 boards read about 5.7 % low,
/// desktop cards up to 8 %, one 12.7 % high.
double bias_of(const Gpu& gpu) { return is_ga100(gpu.name) ? 0.057 : 0.08; }

std::string scope_of(const Gpu& gpu) {
  for (std::string_view module : {"GH200", "GB200", "GB300"})
    if (gpu.name.find(module) != std::string::npos)
      return "may be the whole module with its processor";
  return gpu.names.parts.empty() ? "whole board" : "whole board, shared by all its MIG instances";
}

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
  description.update_period = update_of(gpu);
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

NvmlAnswer<Gpu> gpu_at(const NvmlLibrary& library, unsigned index) {
  const auto device = library.device(index);
  if (const auto* failed = std::get_if<NvmlFailure>(&device)) return *failed;
  Gpu gpu{.index = index,
          .device = std::get<NvmlDevice>(device),
          .name = "unnamed",
          .driver = library.driver(),
          .names = {},
          .architecture = {},
          .most = Watts{6000}};
  if (auto name = library.name(gpu.device); auto* text = std::get_if<std::string>(&name))
    gpu.name = *text;
  if (auto uuid = library.uuid(gpu.device); auto* text = std::get_if<std::string>(&uuid))
    gpu.names.uuid = *text;
  for (NvmlDevice part : library.parts(gpu.device))
    if (auto uuid = library.uuid(part); auto* text = std::get_if<std::string>(&uuid))
      gpu.names.parts.push_back(*text);
  gpu.architecture = library.architecture(gpu.device);
  if (const auto limit = library.power_limit(gpu.device)) gpu.most = *limit * 3;
  return gpu;
}

/// All GPUs of the node. One that cannot be asked keeps its place, for indices count it too.
std::vector<Gpu> all_gpus(const NvmlLibrary& library, Opened& opened) {
  std::vector<Gpu> gpus;
  const auto count = library.count();
  if (const auto* failed = std::get_if<NvmlFailure>(&count)) {
    opened.unavailable.push_back({"NVIDIA GPUs", failed->text, "nvidia-smi tells more"});
    return gpus;
  }
  for (unsigned index = 0; index < std::get<unsigned>(count); ++index) {
    auto gpu = gpu_at(library, index);
    if (const auto* failed = std::get_if<NvmlFailure>(&gpu)) {
      opened.unavailable.push_back(
          {fmt::format("GPU {}", index), failed->text, "nvidia-smi tells more"});
      gpu = Gpu{.index = index,
                .device = nullptr,
                .name = "unreachable",
                .driver = "",
                .names = {},
                .architecture = {},
                .most = {}};
    }
    gpus.push_back(std::get<Gpu>(std::move(gpu)));
  }
  return gpus;
}

/// The texts of all ranks of the node together; none: nothing is hidden.
std::optional<std::vector<std::string>> visible_texts(const Options& options) {
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
