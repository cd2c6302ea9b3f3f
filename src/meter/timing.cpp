#include "meter/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "meter/points.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

constexpr std::size_t fewest_changes = 10;
constexpr std::size_t fewest_powers = 30;
constexpr std::size_t enough_powers = 2000;

/// The value at which the share `rank` of the numbers is smaller.
Seconds quantile(std::vector<Seconds> numbers, double rank) {
  const auto at = numbers.begin() + std::ptrdiff_t(rank * double(numbers.size() - 1));
  std::ranges::nth_element(numbers, at);
  return *at;
}

/// Of the line through the points.
double value_at(const std::vector<Point>& points, Seconds at) {
  const auto after = std::ranges::lower_bound(points, at, {}, &Point::at);
  if (after == points.begin()) return after->value;
  const Point before = *(after - 1);
  return before.value +
         (after->value - before.value) * ((at - before.at) / (after->at - before.at));
}

/// Mean square by which powers miss the means of a window that ends with them.
double miss(const std::vector<Point>& powers, const std::vector<Point>& energies, Seconds window) {
  double sum = 0;
  for (const Point& power : powers) {
    const double energy = value_at(energies, power.at) - value_at(energies, power.at - window);
    sum += squared(power.value - energy / window.count());
  }
  return sum / double(powers.size());
}

/// Readings one after the other, in time.
std::vector<Seconds> distances(const std::vector<Point>& points) {
  std::vector<Seconds> between;
  for (std::size_t i = 1; i < points.size(); ++i)
    between.push_back(points[i].at - points[i - 1].at);
  return between;
}

}  // namespace

std::optional<Seconds> found_update_period(const Series& series) {
  const std::vector<Point> points = points_of(series, Seconds(0));
  std::vector<Point> changes;
  for (std::size_t i = 1; i < points.size(); ++i)
    if (points[i].value != points[i - 1].value) changes.push_back(points[i]);
  if (changes.size() < fewest_changes) return {};
  const std::vector<Seconds> between = distances(changes);
  // Two numbers after each other may be equal, so that some distances are of several periods.
  const Seconds typical = quantile(between, 0.25);
  if (typical < 2 * quantile(distances(points), 0.5)) return {};
  Seconds sum{0};
  int count = 0;
  for (Seconds distance : between) {
    if (distance < 0.5 * typical || distance > 1.5 * typical) continue;
    sum += distance;
    ++count;
  }
  const Seconds period = sum / count;
  const auto regular = [&](Seconds distance) {
    const double periods = distance / period;
    return std::abs(periods - std::max(1.0, std::round(periods))) <= 0.25;
  };
  const auto kept = std::ranges::count_if(between, regular);
  return double(kept) >= 0.8 * double(between.size()) ? std::optional(period) : std::nullopt;
}

std::optional<Seconds> found_window(const Series& power, const Series& counter) {
  const std::vector<Point> energies = points_of(counter, Seconds(0));
  if (energies.size() < fewest_powers) return {};
  constexpr Seconds longest{3};
  std::vector<Point> powers = points_of(power, Seconds(0));
  std::erase_if(powers, [&](const Point& point) {
    return point.at - longest < energies.front().at || point.at > energies.back().at;
  });
  if (powers.size() < fewest_powers) return {};
  powers.resize(std::min(powers.size(), enough_powers));
  const Seconds finest = 2 * quantile(distances(energies), 0.5);
  Seconds best{0};
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (Seconds window = finest / 2; window <= longest; window *= 1.05) {
    const double missed = miss(powers, energies, window);
    most = std::max(most, missed);
    if (missed >= least) continue;
    least = missed;
    best = window;
  }
  if (best < finest || best > longest / 1.1 || least > 0.1 * most) return {};
  return best;
}

}  // namespace parajoule::meter
