#include "meter/rapl.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/kernel_file.h"
#include "meter/rapl_candidates.h"
#include "meter/rapl_unit.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

// Intel SDM vol. 3B, 15.10: updated about every millisecond; the coarsest unit in use is 2^-14 J.
constexpr Seconds update_period{0.001};
constexpr double coarsest_step = 0x1p-14;

class RaplSource final : public Source {
 public:
  RaplSource(Description description, std::unique_ptr<RaplCounter> device, Counter counter)
      : description_(std::move(description)), device_(std::move(device)), counter_(counter) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto shown = device_->energy();
    if (const auto* failure = std::get_if<Failure>(&shown))
      return Gap{Gap::Cause::failed, failure->text};
    return counter_.update(std::get<Joules>(shown), now);
  }

 private:
  Description description_;
  std::unique_ptr<RaplCounter> device_;
  Counter counter_;
};

std::string kind_of(Domain domain) {
  if (domain == Domain::platform) return "platform";
  return domain == Domain::memory ? "memory" : "cpu";
}

/// 95 % bounds from comparisons with external meters: packages of servers within a few percent
/// (Hackenberg et al., IPDPSW 2015), memory within 20 % (Desrochers et al., MEMSYS 2016); of psys
/// published values range from plausible to half as much again.
double bias_of(Domain domain) {
  if (domain == Domain::platform) return 0.3;
  return domain == Domain::memory ? 0.2 : 0.05;
}

/// Three times what the hardware says it can draw, or what no package, memory or board draws.
Watts most_of(const Zone& zone) {
  if (const auto microwatts = number_in(zone.folder / "constraint_0_max_power_uw"))
    if (*microwatts > 0) return std::max(Watts{double(*microwatts) * 3e-6}, Watts{500});
  return zone.domain == Domain::platform ? Watts{10'000} : Watts{3000};
}

std::string formula_of(const Candidate& candidate) {
  if (candidate.endless) return "differences of the event's count";
  if (candidate.range) return "differences of energy_uj, passes through max_energy_range_uj added";
  return "differences of energy_uj; max_energy_range_uj cannot be read, so a pass through the "
         "range "
         "loses the energy since the reading before";
}

Description described(const Candidate& candidate, const std::optional<UnitDoubt>& doubt) {
  const Domain domain = candidate.zone.domain;
  Description description{.device = candidate.device,
                          .device_kind = kind_of(domain),
                          .quantity = Quantity::energy,
                          .unit = "joules",
                          .label = Label::measured,
                          .covers = titled(candidate.zone),
                          .part_of = candidate.part_of,
                          .resolution = coarsest_step,
                          .update_period = update_period,
                          .bias_relative = bias_of(domain),
                          .formula = formula_of(candidate)};
  if (doubt && domain == Domain::memory) {
    description.covers += "; " + doubt->words;
    description.bias_relative = doubt->bias;
  }
  description.covers += fmt::format("; {}", untried);
  return description;
}

}  // namespace

Opened open_rapl(const Options& options) {
  Opened opened;
  for (Candidate& candidate : rapl_candidates(options, opened)) {
    const auto doubt = memory_unit_doubt(options, candidate.zone.reach);
    opened.sources.push_back(std::make_unique<RaplSource>(
        described(candidate, doubt), std::move(candidate.counter),
        Counter({.range = candidate.range, .most = most_of(candidate.zone)})));
  }
  return opened;
}

}  // namespace parajoule::meter
