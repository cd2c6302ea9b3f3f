#include "meter/model.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/kernel_file.h"
#include "meter/processor_time.h"

namespace parajoule::meter {

namespace fs = std::filesystem;
using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

// A tick is 10 ms, so shares over less than half a second are coarse; and on machines with many
// interrupts the kernel takes milliseconds to write /proc/stat.
constexpr Seconds update_period{0.5};
constexpr Seconds tick{0.01};

class CoresEnergy final : public Source {
 public:
  CoresEnergy(Description description, Utilisation utilisation, PowerModel model, int cores)
      : description_(std::move(description)),
        utilisation_(std::move(utilisation)),
        model_(model),
        cores_(cores) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto share = utilisation_.read();
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, "/proc/stat: " + failure->text};
    if (!last_) last_ = now;
    if (const auto utilisation = std::get<std::optional<double>>(share)) {
      total_ += model_.power(*utilisation, cores_) * (now - *last_);
      last_ = now;
    }
    return total_.value;
  }

 private:
  Description description_;
  Utilisation utilisation_;
  PowerModel model_;
  int cores_;
  std::optional<Seconds> last_;
  Joules total_;
};

class CoresUtilisation final : public Source {
 public:
  CoresUtilisation(Description description, Utilisation utilisation)
      : description_(std::move(description)), utilisation_(std::move(utilisation)) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds) override {
    const auto share = utilisation_.read();
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, "/proc/stat: " + failure->text};
    if (const auto utilisation = std::get<std::optional<double>>(share)) return *utilisation;
    return Gap{Gap::Cause::failed, "no tick of the kernel since the last reading"};
  }

 private:
  Description description_;
  Utilisation utilisation_;
};

class ConstantPower final : public Source {
 public:
  ConstantPower(Description description, Watts power)
      : description_(std::move(description)), power_(power) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    if (!first_) first_ = now;
    return (power_ * (now - *first_)).value;
  }

 private:
  Description description_;
  Watts power_;
  std::optional<Seconds> first_;
};

std::string cores_covered(const Machine& machine) {
  return fmt::format("{} cores with the processors {} of {}: all that runs on them", machine.cores,
                     ranges(machine.processors), machine.processor);
}

Description cores_energy(const Machine& machine, const PowerModel& model) {
  const Watts peak = model.power(1, machine.cores);
  std::string clock = "not known";
  if (machine.highest_hertz) clock = fmt::format("{:.2f} GHz", *machine.highest_hertz * 1e-9);
  return {.device = "cores",
          .device_kind = "cpu",
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::modelled,
          .covers = cores_covered(machine),
          .resolution = (peak * tick).value,
          .update_period = update_period,
          .bias_relative = model.core_bias,
          .formula = fmt::format(
              "integral of P dt; P = {} cores x ({} W + ({} W - {} W) u^{}); u: busy share of the "
              "processors in /proc/stat, in source 'utilisation' of this device; highest clock "
              "(not used): {}",
              machine.cores, model.idle_per_core.value, model.peak_per_core.value,
              model.idle_per_core.value, model.exponent, clock)};
}

Description cores_utilisation(const Machine& machine) {
  return {.device = "cores",
          .device_kind = "cpu",
          .quantity = Quantity::utilisation,
          .unit = "fraction",
          .label = Label::measured,
          .covers = cores_covered(machine),
          .resolution = tick / update_period / double(machine.processors.size()),
          .update_period = update_period,
          .formula =
              "busy ticks / all ticks since the last reading; busy: user, nice, system, irq, "
              "softirq of /proc/stat"};
}

}  // namespace

Watts PowerModel::power(double utilisation, int cores) const {
  const Watts dynamic = (peak_per_core - idle_per_core) * std::pow(utilisation, exponent);
  return (idle_per_core + dynamic) * cores;
}

std::vector<std::unique_ptr<Source>> model_cores(const Options& options, const Machine& machine,
                                                 const PowerModel& model) {
  const fs::path stat = options.proc / "stat";
  Utilisation utilisation(stat, machine.processors);
  const auto readable = KernelFile(stat).text();
  if (const auto* failure = std::get_if<Failure>(&readable)) throw unusable(stat, failure->text);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::make_unique<CoresEnergy>(cores_energy(machine, model),
                                                  std::move(utilisation), model, machine.cores));
  sources.push_back(std::make_unique<CoresUtilisation>(cores_utilisation(machine),
                                                       Utilisation(stat, machine.processors)));
  return sources;
}

std::unique_ptr<Source> model_memory(const Machine& machine, const PowerModel& model) {
  const Watts power = model.memory_per_gib * machine.memory_gib;
  Description description{
      .device = "memory",
      .device_kind = "memory",
      .quantity = Quantity::energy,
      .unit = "joules",
      .label = Label::modelled,
      .covers = fmt::format("{:.1f} GiB of main memory, used or not", machine.memory_gib),
      .update_period = update_period,
      .bias_relative = model.memory_bias,
      .formula = fmt::format("integral of P dt; P = {} W a GiB x {:.1f} GiB, whatever it does",
                             model.memory_per_gib.value, machine.memory_gib)};
  return std::make_unique<ConstantPower>(std::move(description), power);
}

}  // namespace parajoule::meter
