#include "meter/rapl.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "meter/counter.h"
#include "meter/kernel_file.h"
#include "meter/rapl_candidates.h"

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
  RaplSource(Description description, KernelFile file, Counter counter)
      : description_(std::move(description)), file_(std::move(file)), counter_(counter) {}

  const Description& description() const override { return description_; }

  Reading read(Seconds now) override {
    const auto number = file_.number();
    if (const auto* failure = std::get_if<Failure>(&number))
      return Gap{Gap::Cause::failed, "energy_uj: " + failure->text};
    return counter_.update(Joules{double(std::get<std::uint64_t>(number)) * 1e-6}, now);
  }

 private:
  Description description_;
  KernelFile file_;
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

Description described(const Candidate& candidate) {
  const Domain domain = candidate.zone.domain;
  return {.device = candidate.device,
          .device_kind = kind_of(domain),
          .quantity = Quantity::energy,
          .unit = "joules",
          .label = Label::measured,
          .covers = fmt::format("{}; {}", titled(candidate.zone), untried),
          .part_of = candidate.part_of,
          .resolution = coarsest_step,
          .update_period = update_period,
          .bias_relative = bias_of(domain),
          .formula = "differences of energy_uj, passes through max_energy_range_uj added"};
}

std::unique_ptr<Source> source_of(Candidate candidate) {
  Counter::Options counter{.most = most_of(candidate.zone)};
  if (const auto range = number_in(candidate.zone.folder / "max_energy_range_uj"))
    if (*range > 0) counter.range = Joules{double(*range) * 1e-6};
  Description description = described(candidate);
  if (!counter.range)
    description.formula =
        "differences of energy_uj; max_energy_range_uj cannot be read, so a pass "
        "through the range loses the energy since the reading before";
  return std::make_unique<RaplSource>(std::move(description), std::move(candidate.file),
                                      Counter(counter));
}

}  // namespace

Opened open_rapl(const Options& options) {
  Opened opened;
  for (Candidate& candidate : rapl_candidates(options, opened))
    opened.sources.push_back(source_of(std::move(candidate)));
  return opened;
}

}  // namespace parajoule::meter
