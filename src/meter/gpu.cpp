#include "meter/gpu.h"

#include <cctype>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace parajoule::meter {

using base::Watts;

namespace {

NvmlAnswer<Gpu> gpu_at(const NvmlLibrary& library, unsigned index) {
  const auto device = library.device(index);
  if (const auto* failed = std::get_if<NvmlFailure>(&device)) return *failed;
  Gpu gpu{.index = index, .device = std::get<NvmlDevice>(device), .driver = library.driver()};
  if (auto name = library.name(gpu.device); auto* text = std::get_if<std::string>(&name))
    gpu.name = *text;
  if (auto uuid = library.uuid(gpu.device); auto* text = std::get_if<std::string>(&uuid))
    gpu.names.uuid = *text;
  for (NvmlDevice part : library.parts(gpu.device))
    if (auto uuid = library.uuid(part); auto* text = std::get_if<std::string>(&uuid))
      gpu.names.parts.push_back(*text);
  gpu.architecture = library.architecture(gpu.device);
  const Watts limit = library.power_limit(gpu.device).value_or(Watts{0});
  if (limit > Watts{0}) gpu.most = limit * 3;
  const auto module = library.power(gpu.device, NvmlPower::instant, NvmlScope::module);
  const auto* power = std::get_if<Watts>(&module);
  gpu.module_power = power && *power > Watts{0};
  return gpu;
}

}  // namespace

std::vector<Gpu> all_gpus(const NvmlLibrary& library, Opened& opened) {
  std::vector<Gpu> gpus;
  const auto count = library.count();
  if (const auto* failed = std::get_if<NvmlFailure>(&count)) {
    opened.unavailable.push_back(
        {"NVIDIA GPUs", failed->text, "nvidia-smi tells more", Unavailable::State::unreadable});
    return gpus;
  }
  for (unsigned index = 0; index < std::get<unsigned>(count); ++index) {
    auto gpu = gpu_at(library, index);
    if (const auto* failed = std::get_if<NvmlFailure>(&gpu)) {
      opened.unavailable.push_back({fmt::format("GPU {}", index), failed->text,
                                    "nvidia-smi tells more", Unavailable::State::unreadable});
      gpu = Gpu{.index = index};
    }
    gpus.push_back(std::get<Gpu>(std::move(gpu)));
  }
  return gpus;
}

double bias_of(const Gpu& gpu) { return is_ga100(gpu.name) ? 0.057 : 0.08; }

std::optional<std::string> module_of(const Gpu& gpu) {
  const bool pairs = is_model(gpu.name, "GB200") || is_model(gpu.name, "GB300");
  if (!pairs && !counts_module(gpu) && !gpu.module_power) return {};
  return fmt::format("module {}", pairs ? gpu.index / 2 : gpu.index);
}

bool counts_module(const Gpu& gpu) { return is_model(gpu.name, "GH200"); }

std::string scope_of(const Gpu& gpu) {
  const std::string_view shared =
      gpu.names.parts.empty() ? "" : ", shared by all its MIG instances";
  return fmt::format("{}{}", module_of(gpu) ? "GPU with its memory" : "whole board", shared);
}

bool is_model(std::string_view name, std::string_view model) {
  const std::size_t at = name.find(model);
  if (at == std::string_view::npos) return false;
  const std::string_view rest = name.substr(at + model.size());
  return rest.empty() || !std::isdigit(static_cast<unsigned char>(rest.front()));
}

bool is_ga100(std::string_view name) {
  return is_model(name, "A100") || is_model(name, "A800") || is_model(name, "A30");
}

}  // namespace parajoule::meter
