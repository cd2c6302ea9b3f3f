#include "meter/cross_check.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "meter/points.h"
#include "meter/timing.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

constexpr Watts drawn{1};                      // less may be a device that is switched off
constexpr std::size_t slips_of_one_reset = 2;  // an odd reading, and the one that agrees with it
constexpr double about_equal = 0.98;

/// The longest stretch of a span in which a counter showed one value only.
std::optional<Span> standstill(const std::vector<Point>& points, Span span) {
  std::optional<Span> longest;
  const Point* first = nullptr;
  for (const Point& point : points) {
    if (point.at < span.begin || point.at > span.end) continue;
    if (!first || point.value != first->value) first = &point;
    const Span still{first->at, point.at};
    if (!longest || still.length() > longest->length()) longest = still;
  }
  return longest;
}

/// Between readings, on average.
Seconds distance_within(const std::vector<Point>& points, Span span) {
  const auto count = std::ranges::count_if(
      points, [&](const Point& point) { return point.at >= span.begin && point.at <= span.end; });
  return count > 1 ? span.length() / double(count - 1) : span.length();
}

/// Why a counter is not to be trusted, its power being known; empty if it is.
std::string frozen(const Series& counter, const Series& power, Span span) {
  const auto still = standstill(points_of(counter, Seconds(0)), span);
  const Seconds update = counter.description.update_period.value_or(Seconds(0));
  if (!still || still->length() < std::max(Seconds(1), 10 * update)) return "";
  const SourceAccount meanwhile = account(power, *still);
  if (!meanwhile.energy || !meanwhile.peak_power || *meanwhile.mean_power < drawn) return "";
  if (meanwhile.energy->value < 10 * counter.description.resolution.value_or(0)) return "";
  // At both ends power may have been drawn that the counter tells a little later or earlier.
  const Seconds end = std::max(update, distance_within(points_of(power, Seconds(0)), *still));
  if (*meanwhile.energy <= *meanwhile.peak_power * (2 * end)) return "";
  return fmt::format("stood still for {:.1f} s while {:.1f} W were drawn", still->length().count(),
                     meanwhile.mean_power->value);
}

std::string slipping(const Series& counter, Span span) {
  const auto slips = std::ranges::count_if(counter.rows, [&](const Row& row) {
    const auto* gap = std::get_if<Gap>(&row.reading);
    return gap && row.at >= span.begin && row.at <= span.end &&
           (gap->cause == Gap::Cause::reset || gap->cause == Gap::Cause::implausible);
  });
  if (std::size_t(slips) <= slips_of_one_reset) return "";
  return fmt::format("slipped in {} readings", slips);
}

void drop(SourceAccount& counter, SourceAccount& power, const std::string& why) {
  counter.energy = {};
  counter.mean_power = {};
  counter.peak_power = {};
  counter.uncertainty = {};
  counter.covered = Seconds(0);
  counter.remarks.push_back("the counter " + why + ": its number is not used");
  power.remarks.push_back("the energy counter " + why + ": this is integrated in its stead");
}

/// Without a stated window, power is set back by half of the one that the counter shows.
void find_window(const Series& counter, const Series& power, SourceAccount& account, Span span) {
  if (power.description.window) return;
  const auto window = found_window(power, counter);
  if (!window) return;
  Series known = power;
  known.description.window = window;
  account = meter::account(known, span);
  account.remarks.push_back(fmt::format(
      "averages over {:.3f} s, as a comparison with the energy counter shows", window->count()));
}

void compare(SourceAccount& counter, SourceAccount& power) {
  const bool same_time = counter.covered > about_equal * power.covered &&
                         power.covered > about_equal * counter.covered;
  if (!same_time || !power.energy || *power.energy <= Joules{0}) return;
  const double ratio = *counter.energy / *power.energy;
  const std::string told = fmt::format("energy counter / integrated power = {:.3f}", ratio);
  power.remarks.push_back(told);
  const double apart = std::abs((*counter.energy - *power.energy).value);
  if (apart > std::hypot(counter.uncertainty.whole().value, power.uncertainty.whole().value))
    counter.remarks.push_back(told + ": they differ by more than their uncertainties");
}

}  // namespace

void cross_check(std::span<const Series> series, std::span<SourceAccount> accounts, Span span) {
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Description& counter = series[i].description;
    if (counter.quantity != Quantity::energy || !accounts[i].energy) continue;
    const auto power = std::ranges::find_if(series, [&](const Series& other) {
      const Description& power = other.description;
      return power.quantity == Quantity::power && power.device == counter.device &&
             power.label == counter.label && accounts[std::size_t(&other - &series[0])].energy;
    });
    if (power == series.end()) continue;
    SourceAccount& integrated = accounts[std::size_t(&*power - &series[0])];
    std::string why = frozen(series[i], *power, span);
    if (why.empty()) why = slipping(series[i], span);
    if (!why.empty()) {
      drop(accounts[i], integrated, why);
      continue;
    }
    find_window(series[i], *power, integrated, span);
    compare(accounts[i], integrated);
  }
}

}  // namespace parajoule::meter
