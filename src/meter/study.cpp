#include "meter/study.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

using Powers = std::vector<std::pair<Seconds, Watts>>;

std::vector<std::pair<Seconds, double>> values_of(const Series& series) {
  std::vector<std::pair<Seconds, double>> values;
  for (const Row& row : series.rows)
    if (const auto* value = std::get_if<double>(&row.reading)) values.emplace_back(row.at, *value);
  return values;
}

Powers powers_of(const Series& series) {
  const auto values = values_of(series);
  Powers powers;
  if (series.description.quantity == Quantity::power) {
    for (const auto& [at, value] : values) powers.emplace_back(at, Watts{value});
    return powers;
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    const Seconds passed = values[i].first - values[i - 1].first;
    if (passed > Seconds(0))
      powers.emplace_back(values[i].first,
                          Joules{values[i].second - values[i - 1].second} / passed);
  }
  return powers;
}

Joules trapezoid(const Powers& powers) {
  Joules energy;
  for (std::size_t i = 1; i < powers.size(); ++i)
    energy +=
        (powers[i - 1].second + powers[i].second) / 2 * (powers[i].first - powers[i - 1].first);
  return energy;
}

/// Whether a node's own meter gives this number, dividing what it measures.
bool is_division(const Description& source, const std::vector<Series>& node) {
  return std::ranges::any_of(node, [&](const Series& other) {
    return is_whole(other.description.device_kind) && source.part_of == other.description.device;
  });
}

/// Whole GPUs, packages and memories; what the platform as a whole draws the paper leaves out.
bool belongs(const Series& series, const std::vector<Series>& node) {
  const Description& source = series.description;
  const bool known =
      source.device_kind == "gpu" || source.device_kind == "cpu" || source.device_kind == "memory";
  if (!known || !energetic(series.description)) return false;
  for (const Series& other : node) {
    const Description& whole = other.description;
    const bool holds_devices = whole.device_kind == "platform" || is_whole(whole.device_kind);
    if (source.part_of == whole.device && !holds_devices) return false;
    const bool of_device = whole.device == source.device && whole.label == source.label;
    const bool earlier = &other < &series && whole.quantity == source.quantity;
    const bool better = whole.quantity == Quantity::power && source.quantity == Quantity::energy;
    if (of_device && (better || earlier) && powers_of(other).size() > 1) return false;
    if (is_division(source, node) && whole.device_kind == source.device_kind &&
        whole.label == source.label && !is_division(whole, node) && powers_of(other).size() > 1)
      return false;
  }
  return powers_of(series).size() > 1;
}

/// Adds a series to the part its device belongs to.
void add(std::optional<StudyIntensity>& sum, const Series& series) {
  if (!sum) sum = StudyIntensity{};
  const Joules energy = trapezoid(powers_of(series));
  const std::string_view kind = series.description.device_kind;
  if (kind == "gpu") sum->energy.gpu += energy;
  if (kind == "cpu") sum->energy.cpu += energy;
  if (kind == "memory") sum->energy.memory += energy;
}

void set_ratios(std::optional<StudyIntensity>& intensity, const StudyAccount& account,
                double samples) {
  if (!intensity) return;
  intensity->kilowatt_hours = base::kilowatt_hours(intensity->energy.whole());
  intensity->kilowatt_hours_per_device_hour = intensity->kilowatt_hours / account.device_hours;
  if (samples > 0)
    intensity->watt_hours_per_1000_samples = intensity->kilowatt_hours * 1e6 / samples;
}

/// The longest of any node: from its first to its last reading of energy or power.
Seconds run_time(std::span<const std::vector<Series>> nodes) {
  Seconds longest(0);
  for (const auto& node : nodes) {
    std::optional<Seconds> first;
    std::optional<Seconds> last;
    for (const Series& series : node) {
      if (!energetic(series.description)) continue;
      for (const auto& [at, unused] : values_of(series)) {
        first = std::min(first.value_or(at), at);
        last = std::max(last.value_or(at), at);
      }
    }
    if (last) longest = std::max(longest, *last - *first);
  }
  return longest;
}

}  // namespace

StudyAccount study_account(std::span<const std::vector<Series>> nodes, const StudyWork& work) {
  StudyAccount account{.run_time = run_time(nodes),
                       .device_hours = 0,
                       .samples_per_device_hour = 0,
                       .passes_per_device_hour = 0};
  account.device_hours = base::hours(account.run_time) * work.devices;
  base::ensure(account.device_hours > 0, "a run has two readings and at least one device");
  const double passes = double(work.updates) * work.devices;
  const double samples = passes * double(work.local_batch_size);
  account.samples_per_device_hour = samples / account.device_hours;
  account.passes_per_device_hour = passes / account.device_hours;
  for (const auto& node : nodes) {
    for (const Series& series : node) {
      if (!belongs(series, node)) continue;
      if (series.description.label == Label::measured) add(account.measured, series);
      if (series.description.label == Label::modelled) add(account.modelled, series);
    }
  }
  set_ratios(account.measured, account, samples);
  set_ratios(account.modelled, account, samples);
  return account;
}

}  // namespace parajoule::meter
