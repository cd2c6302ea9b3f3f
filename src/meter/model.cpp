#include "meter/model.h"

#include <algorithm>
#include <cmath>
#include <functional>
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

/// The busy share of some processors from one call to the next; none if no time has passed.
using Share = std::function<std::variant<std::optional<double>, Failure>(Seconds now)>;

Share share_of_all(std::shared_ptr<SharedFile> stat, const std::vector<int>& processors) {
  const auto utilisation = std::make_shared<Utilisation>(std::move(stat), processors);
  return [utilisation](Seconds now) -> std::variant<std::optional<double>, Failure> {
    auto share = utilisation->read(now);
    if (auto* failure = std::get_if<Failure>(&share))
      failure->text = "/proc/stat: " + failure->text;
    return share;
  };
}

/// Of what a control group does; the first call gives none.
class ShareOfGroup {
 public:
  ShareOfGroup(std::shared_ptr<SharedFile> file, std::size_t processors)
      : file_(std::move(file)), processors_(processors) {}

  std::variant<std::optional<double>, Failure> operator()(Seconds now) {
    const auto& text = file_->text(now);
    if (const auto* failure = std::get_if<Failure>(&text))
      return Failure{failure->code, "cpu.stat: " + failure->text};
    const auto used = processor_time_in(std::get<std::string>(text));
    if (!used) return Failure{0, "cpu.stat has no usage_usec"};
    const Look before = std::exchange(last_, Look{*used, now, true});
    if (!before.taken || now <= before.at) return std::nullopt;
    const double share = (*used - before.used) / (double(processors_) * (now - before.at));
    return std::clamp(share, 0.0, 1.0);
  }

 private:
  struct Look {
    Seconds used{0};
    Seconds at{0};
    bool taken = false;
  };
  std::shared_ptr<SharedFile> file_;
  std::size_t processors_;
  Look last_;
};

class CoresEnergy final : public Source {
 public:
  CoresEnergy(Description description, Share share, PowerModel model, int cores)
      : description_(std::move(description)),
        share_(std::move(share)),
        model_(model),
        cores_(cores) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto share = share_(now);
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, failure->text};
    if (!last_) last_ = now;
    if (const auto utilisation = std::get<std::optional<double>>(share)) {
      total_ += model_.power(*utilisation, cores_) * (now - *last_);
      last_ = now;
    }
    return total_.value;
  }

 private:
  Description description_;
  Share share_;
  PowerModel model_;
  int cores_;
  std::optional<Seconds> last_;
  Joules total_;
};

class CoresUtilisation final : public Source {
 public:
  CoresUtilisation(Description description, Share share)
      : description_(std::move(description)), share_(std::move(share)) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto share = share_(now);
    if (const auto* failure = std::get_if<Failure>(&share))
      return Gap{Gap::Cause::failed, failure->text};
    if (const auto utilisation = std::get<std::optional<double>>(share)) return *utilisation;
    return Gap{Gap::Cause::failed, "no time has passed since the last reading"};
  }

 private:
  Description description_;
  Share share_;
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
  const std::string what =
      machine.group
          ? fmt::format("what the control group {} does, and their rest", machine.group->name)
          : std::string("all that runs on them");
  return fmt::format("{} cores with the processors {} of {}: {}", machine.cores,
                     ranges(machine.processors), machine.processor, what);
}

std::string share_in_words(const Machine& machine) {
  return machine.group ? "processor time of the control group (cpu.stat) / time x processors"
                       : "busy share of the processors in /proc/stat";
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
              "integral of P dt; P = {} cores x ({} W + ({} W - {} W) u^{}); u: {}, in "
              "source 'utilisation' of this device; highest clock (not used): {}",
              machine.cores, model.idle_per_core.value, model.peak_per_core.value,
              model.idle_per_core.value, model.exponent, share_in_words(machine), clock)};
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
          .formula = machine.group
                         ? "processor time of the control group / time x processors, since the "
                           "last reading; usage_usec of cpu.stat"
                         : "busy ticks / all ticks since the last reading; busy: user, nice, "
                           "system, irq, softirq of /proc/stat"};
}

}  // namespace

Watts PowerModel::power(double utilisation, int cores) const {
  const Watts dynamic = (peak_per_core - idle_per_core) * std::pow(utilisation, exponent);
  return (idle_per_core + dynamic) * cores;
}

std::vector<std::unique_ptr<Source>> model_cores(const Options& options, const Machine& machine,
                                                 const PowerModel& model) {
  const fs::path stat = options.proc / "stat";
  const auto file =
      std::make_shared<SharedFile>(machine.group ? machine.group->folder / "cpu.stat" : stat);
  if (!machine.group) {
    const auto readable = file->text();
    if (const auto* failure = std::get_if<Failure>(&readable)) throw unusable(stat, failure->text);
  }
  const auto share = [&]() -> Share {
    if (machine.group) return ShareOfGroup(file, machine.processors.size());
    return share_of_all(file, machine.processors);
  };
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(
      std::make_unique<CoresEnergy>(cores_energy(machine, model), share(), model, machine.cores));
  sources.push_back(std::make_unique<CoresUtilisation>(cores_utilisation(machine), share()));
  return sources;
}

std::unique_ptr<Source> model_memory(const Machine& machine, const PowerModel& model) {
  const double modules = machine.modules.value_or(0) * machine.memory_share;
  const Watts power = machine.modules ? model.memory_per_module * modules
                                      : model.memory_per_gib * machine.memory_gib;
  const std::string inputs =
      machine.modules
          ? fmt::format("{} W a module x {} modules x {:.3f} of the node's memory",
                        model.memory_per_module.value, *machine.modules, machine.memory_share)
          : fmt::format("{} W a GiB x {:.1f} GiB", model.memory_per_gib.value, machine.memory_gib);
  Description description{
      .device = "memory",
      .device_kind = "memory",
      .quantity = Quantity::energy,
      .unit = "joules",
      .label = Label::modelled,
      .covers = fmt::format("{:.1f} GiB of main memory, used or not", machine.memory_gib),
      .update_period = update_period,
      .bias_relative = model.memory_bias,
      .formula = fmt::format("integral of P dt; P = {}, whatever it does", inputs)};
  return std::make_unique<ConstantPower>(std::move(description), power);
}

}  // namespace parajoule::meter
