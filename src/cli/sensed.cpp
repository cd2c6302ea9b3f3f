#include "cli/sensed.h"

#include <chrono>

#include <fmt/format.h>

#include "cli/energy_text.h"
#include "store/file_name.h"

namespace parajoule::cli {

using base::Seconds;
using meter::Description;
using meter::Observed;
using State = SensedSource::State;

namespace {

constexpr double updates_to_be_sure = 5;

/// Parts of a package may rest, and a model is never dead. What was watched for a few updates only
/// may have come between two.
bool seems_dead(const Description& description, const Observed& observed, Seconds length) {
  const bool has_to_move = description.quantity == meter::Quantity::energy &&
                           description.label == meter::Label::measured && !description.part_of;
  const Seconds update = description.update_period.value_or(Seconds(1));
  return has_to_move && !observed.moved && length >= updates_to_be_sure * update;
}

SensedSource judged(const Description& description, const Observed& observed, Seconds length) {
  SensedSource source{.description = description, .observed = observed, .state = State::works};
  if (observed.failed == observed.reads) {
    source.state = State::fails;
    source.reason = observed.gap.value_or("was not read");
  } else if (seems_dead(description, observed, length)) {
    source.state = State::dead;
    source.reason = fmt::format("stood still for {:.1f} s", length.count());
  }
  return source;
}

}  // namespace

Sensed sensed(const meter::Options& options, Seconds length, const meter::Pace& pace) {
  Sensed result{.watched = length, .families = {}, .unmetered = {}};
  std::vector<std::unique_ptr<meter::Source>> sources;
  std::vector<Description> descriptions;
  std::vector<std::size_t> family_of;
  for (meter::OpenedFamily& family : meter::open_families(options)) {
    for (auto& source : family.opened.sources) {
      descriptions.push_back(source->description());
      family_of.push_back(result.families.size());
      sources.push_back(std::move(source));
    }
    result.families.push_back({.name = std::string(family.name),
                               .reads = std::string(family.reads),
                               .met_devices = family.met_devices,
                               .sources = {},
                               .unavailable = std::move(family.opened.unavailable)});
  }
  const std::vector<Observed> observed = meter::observe(sources, length, pace);
  for (std::size_t i = 0; i < sources.size(); ++i)
    result.families[family_of[i]].sources.push_back(judged(descriptions[i], observed[i], length));
  result.unmetered = meter::unmetered(descriptions);
  return result;
}

std::vector<meter::FoundPeriod> periods_of(const Sensed& sensed) {
  const std::string now = store::written_utc(std::chrono::system_clock::now());
  std::vector<meter::FoundPeriod> periods;
  for (const SensedFamily& family : sensed.families)
    for (const SensedSource& source : family.sources) {
      const Observed& observed = source.observed;
      const bool wanted = meter::energetic(source.description) &&
                          source.description.label == meter::Label::measured;
      if (wanted && observed.update && !observed.quicker)
        periods.push_back({source.description.covers, *observed.update, now});
    }
  return periods;
}

std::string_view name_of(State state) {
  switch (state) {
    case State::works:
      return "works";
    case State::fails:
      return "fails";
    case State::dead:
      break;
  }
  return "dead";
}

std::string_view state_of(const meter::Unavailable& unavailable) {
  switch (unavailable.state) {
    case meter::Unavailable::State::dead:
      return "dead";
    case meter::Unavailable::State::absent:
      return "absent";
    case meter::Unavailable::State::left_out:
      return "left out";
    case meter::Unavailable::State::spare:
      return "spare";
    case meter::Unavailable::State::unreadable:
      break;
  }
  return "unreadable";
}

}  // namespace parajoule::cli
