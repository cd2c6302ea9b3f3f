#include "meter/nvml_sources.h"

#include <chrono>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "meter/asked.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

using Library = std::shared_ptr<const NvmlLibrary>;

double plain(double value) { return value; }
template <class Unit>
double plain(base::Quantity<Unit> quantity) {
  return quantity.value;
}

template <class T>
bool works(const NvmlAnswer<T>& answer) {
  return std::holds_alternative<T>(answer);
}

/// A question to the library as a source asks it.
template <class Question>
std::function<Answer()> asking(Question question) {
  return [question]() -> Answer {
    const auto answer = question();
    if (const auto* failure = std::get_if<NvmlFailure>(&answer)) return failure->text;
    return plain(std::get<0>(answer));
  };
}

Description described(const Gpu& gpu, std::string_view scope, std::string_view interface) {
  return {.device = gpu.title(),
          .device_kind = "gpu",
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::measured,
          .covers = fmt::format("{} {} ({}), {}, NVML {}, driver {}; {}", gpu.title(), gpu.name,
                                gpu.names.uuid, scope, interface, gpu.driver, untried),
          .part_of = module_of(gpu),
          .resolution = 1e-3,
          .update_period = counter_period,
          .bias_relative = bias_of(gpu)};
}

/// The module has its processor in it, so nothing of that is added to it.
void make_module(Description& description, const Gpu& gpu) {
  description.device = module_of(gpu).value();
  description.device_kind = "platform";
  description.part_of = {};
}

constexpr std::string_view whole_module = "whole module with its processor and memory";

void add(Description description, const Gpu& gpu, std::function<Answer()> ask, Opened& opened) {
  opened.sources.push_back(std::make_unique<AskedSource>(AskedSource::Options{
      .description = std::move(description), .ask = std::move(ask), .most = gpu.most}));
}

// Energy and power ------------------------------------------------------------------------------

void add_counter(const Library& library, const Gpu& gpu, Opened& opened) {
  const bool module = counts_module(gpu);
  Description description =
      described(gpu, module ? std::string(whole_module) : scope_of(gpu), "energy counter");
  if (module) make_module(description, gpu);
  description.formula = "differences of nvmlDeviceGetTotalEnergyConsumption";
  add(std::move(description), gpu,
      asking([library, device = gpu.device] { return library->energy(device); }), opened);
}

std::string_view name_of(PowerField field) {
  switch (field) {
    case PowerField::instant:
      return "power of the moment";
    case PowerField::average:
      return "power averaged over a second";
    case PowerField::usage:
      break;
  }
  return "power as nvidia-smi shows it";
}

std::string_view call_of(PowerField field) {
  switch (field) {
    case PowerField::instant:
      return "NVML_FI_DEV_POWER_INSTANT";
    case PowerField::average:
      return "NVML_FI_DEV_POWER_AVERAGE";
    case PowerField::usage:
      break;
  }
  return "nvmlDeviceGetPowerUsage";
}

NvmlAnswer<Watts> power_of(const NvmlLibrary& library, const Gpu& gpu, PowerField field,
                           NvmlScope scope) {
  if (field == PowerField::usage) {
    if (scope != NvmlScope::gpu) return NvmlFailure{NvmlFailure::not_supported, "no such scope"};
    return library.power(gpu.device);
  }
  const NvmlPower number = field == PowerField::instant ? NvmlPower::instant : NvmlPower::average;
  return library.power(gpu.device, number, scope);
}

/// The first one that a scope answers: the moment rather than a mean, a mean of a stated length
/// rather than what differs from driver to driver. Only a whole GPU may draw 0 W, being asleep.
std::optional<PowerField> power_field(const NvmlLibrary& library, const Gpu& gpu, NvmlScope scope) {
  for (PowerField field : {PowerField::instant, PowerField::average, PowerField::usage}) {
    const auto answer = power_of(library, gpu, field, scope);
    const auto* power = std::get_if<Watts>(&answer);
    if (power && (scope == NvmlScope::gpu || *power > Watts{0})) return field;
  }
  return {};
}

Description described(const Gpu& gpu, std::string_view scope, PowerField field) {
  Description description = described(gpu, scope, name_of(field));
  const PowerTiming timing = power_timing(gpu, field);
  description.quantity = Quantity::power;
  description.unit = "watts";
  description.update_period = timing.update;
  description.window = timing.window;
  description.formula = fmt::format(
      "{}, energy by the trapezoid rule; period and window as arXiv:2312.02741 has them for its "
      "generation",
      call_of(field));
  return description;
}

void add_power(const Library& library, const Gpu& gpu, Description description, PowerField field,
               NvmlScope scope, Opened& opened) {
  add(std::move(description), gpu,
      asking([library, gpu, field, scope] { return power_of(*library, gpu, field, scope); }),
      opened);
}

/// The memory's power is within the GPU's.
void add_memory_power(const Library& library, const Gpu& gpu, Opened& opened) {
  const auto field = power_field(*library, gpu, NvmlScope::memory);
  if (!field) return;
  Description description = described(gpu, "its memory", *field);
  description.device = gpu.title() + " memory";
  description.part_of = gpu.title();
  add_power(library, gpu, std::move(description), *field, NvmlScope::memory, opened);
}

void add_module_power(const Library& library, const Gpu& gpu, Opened& opened) {
  if (!gpu.module_power) return;
  Description description = described(gpu, whole_module, PowerField::instant);
  make_module(description, gpu);
  Gpu module = gpu;
  module.most = Watts{3 * 4000};  // the largest module may draw 2900 W
  add_power(library, module, std::move(description), PowerField::instant, NvmlScope::module,
            opened);
}

/// Power, and whether there is any. `without_counter` says why there is no counter, if so.
bool add_gpu_power(const Library& library, const Gpu& gpu, const NvmlFailure* without_counter,
                   Opened& opened) {
  const auto field = power_field(*library, gpu, NvmlScope::gpu);
  if (!field) return false;
  // A GH200 that knows no scopes may give its module's power as its own.
  const bool module = counts_module(gpu) && *field == PowerField::usage;
  Description description =
      described(gpu, module ? "may be the whole module with its processor" : scope_of(gpu), *field);
  if (module) make_module(description, gpu);
  if (without_counter)
    *description.formula += fmt::format("; no energy counter: {}", without_counter->text);
  add_power(library, gpu, std::move(description), *field, NvmlScope::gpu, opened);
  return true;
}

// What else a GPU tells -------------------------------------------------------------------------

constexpr Seconds once_a_second{1};

/// Only what is answered now is asked again; none of it is missed where energy is concerned.
template <class Question>
void add_other(const Gpu& gpu, Quantity quantity, std::string_view unit, std::string_view what,
               double resolution, Question question, Opened& opened) {
  if (!works(question())) return;
  Description description = described(gpu, what, "once a second");
  description.quantity = quantity;
  description.unit = unit;
  description.part_of = {};
  description.resolution = resolution;
  description.update_period = once_a_second;
  description.bias_relative = {};
  if (unit == "reasons")
    description.formula =
        "sum of 1 idle, 2 clocks set by application, 4 power cap, 8 hardware slowdown, 16 sync "
        "boost, 32 thermal slowdown by software, 64 by hardware, 128 power brake, 256 display";
  add(std::move(description), gpu, asking(std::move(question)), opened);
}

void add_others(const Library& library, const Gpu& gpu, Opened& opened) {
  const NvmlDevice device = gpu.device;
  add_other(
      gpu, Quantity::temperature, "celsius", "temperature", 1,
      [=] { return library->celsius(device); }, opened);
  add_other(
      gpu, Quantity::clock, "hertz", "clock of its processors", 1e6,
      [=] { return library->hertz(device, NvmlClock::processors); }, opened);
  add_other(
      gpu, Quantity::clock, "hertz", "clock of its memory", 1e6,
      [=] { return library->hertz(device, NvmlClock::memory); }, opened);
  add_other(
      gpu, Quantity::utilisation, "fraction", "share of time with a kernel running", 0.01,
      [=] { return library->busy(device); }, opened);
  add_other(
      gpu, Quantity::memory, "bytes", "memory in use", 1,
      [=] { return library->memory_bytes(device); }, opened);
  add_other(
      gpu, Quantity::clock, "reasons", "why its clocks are held back", 1,
      [=] { return library->throttling(device); }, opened);
  add_other(
      gpu, Quantity::utilisation, "processes", "processes that compute on it", 1,
      [=] { return library->processes(device); }, opened);
}

}  // namespace

Seconds open_gpu(const Library& library, const Gpu& gpu, std::set<std::string>& modules,
                 Opened& opened) {
  const auto before = std::chrono::steady_clock::now();
  const auto energy = library->energy(gpu.device);
  const Seconds cost = std::chrono::steady_clock::now() - before;
  const auto* failed = std::get_if<NvmlFailure>(&energy);
  if (!failed) add_counter(library, gpu, opened);
  const bool power = add_gpu_power(library, gpu, failed, opened);
  add_memory_power(library, gpu, opened);
  if (const auto module = module_of(gpu); module && modules.insert(*module).second)
    add_module_power(library, gpu, opened);
  add_others(library, gpu, opened);
  if (failed && !power)
    opened.unavailable.push_back(
        {.what = fmt::format("{} {}", gpu.title(), gpu.name),
         .reason = fmt::format("tells neither energy nor power: {}", failed->text),
         .remedy = "none here (usual for virtual GPUs): meter it on its host",
         .state = Unavailable::State::unreadable});
  return failed ? Seconds(0) : cost;
}

}  // namespace parajoule::meter
