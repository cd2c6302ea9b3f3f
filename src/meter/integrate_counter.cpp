#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "meter/integrate.h"
#include "meter/points.h"
#include "meter/timing.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

constexpr Seconds standstill{1};  // a counter that has not moved for so long is dead

/// The readings on both sides of a moment, and how far it lies between them.
struct Between {
  Point before;
  Point after;
  double fraction = 0;
  double value() const { return before.value + fraction * (after.value - before.value); }
  Seconds distance() const { return after.at - before.at; }
};

/// `at` must lie within the points.
Between between(const std::vector<Point>& points, Seconds at) {
  const auto after = std::ranges::lower_bound(points, at, {}, &Point::at);
  if (after == points.begin()) return {*after, *after};
  const Point before = *(after - 1);
  return {before, *after, (at - before.at) / (after->at - before.at)};
}

/// Powers between neighbouring readings, of those that share time with the span.
std::vector<double> powers_between(const std::vector<Point>& points, Span span) {
  std::vector<double> powers;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Seconds passed = points[i].at - points[i - 1].at;
    const bool shares = points[i].at > span.begin && points[i - 1].at < span.end;
    if (shares && passed > Seconds(0))
      powers.push_back((points[i].value - points[i - 1].value) / passed.count());
  }
  return powers;
}

double end_variance(const Between& end, const std::vector<double>& powers) {
  // With too few powers to tell their range: from nothing to twice the mean.
  double jump = 2 * (end.after.value - end.before.value);
  if (powers.size() > 2) {
    Extent extent;
    for (double power : powers) extent.take(power);
    jump = extent.width() * end.distance().count();
  }
  return squared(jump * end.fraction * (1 - end.fraction)) / 3;
}

/// From the last value before each reset to the reset.
std::vector<Seconds> lost_stretches(const Series& series, Span span) {
  std::vector<Seconds> stretches;
  std::optional<Seconds> last;
  for (const Row& row : series.rows) {
    const auto* gap = std::get_if<Gap>(&row.reading);
    if (!gap) last = row.at;
    if (!gap || gap->cause != Gap::Cause::reset || !last) continue;
    if (row.at >= span.begin && *last <= span.end) stretches.push_back(row.at - *last);
  }
  return stretches;
}

/// How long a counter that had moved again and again stood still up to the end of a span, if that
/// is far longer than ever between its steps before: what was drawn then may be missing.
std::optional<Seconds> still_at_the_end(const std::vector<Point>& points, Span span,
                                        Seconds update) {
  constexpr int few = 5;
  constexpr double far = 5;
  const Point* before = nullptr;
  std::optional<Seconds> moved;
  Seconds longest{0};
  Seconds still{0};
  int steps = 0;
  for (const Point& point : points) {
    if (point.at < span.begin || point.at > span.end) continue;
    if (before && point.value != before->value) {
      if (moved) longest = std::max(longest, point.at - *moved);
      moved = point.at;
      ++steps;
    }
    if (moved) still = point.at - *moved;
    before = &point;
  }
  if (steps <= few || still <= far * std::max(longest, 2 * update)) return {};
  return still;
}

/// Highest mean power between readings at least `length` apart.
std::optional<Watts> peak_over(const std::vector<Point>& points, Span span, Seconds length) {
  std::optional<Watts> peak;
  auto first = std::ranges::lower_bound(points, span.begin, {}, &Point::at);
  for (auto last = first; last != points.end() && last->at <= span.end; ++last) {
    while (first + 1 < last && last->at - (first + 1)->at >= length) ++first;
    const Seconds passed = last->at - first->at;
    if (passed < length || passed <= Seconds(0)) continue;
    const Watts power = Joules{last->value - first->value} / passed;
    peak = std::max(peak.value_or(power), power);
  }
  return peak;
}

}  // namespace

Integral integrate_counter(const Series& series, Span span) {
  const std::vector<Point> points = points_of(series, Seconds(0));
  if (points.size() < 2) return without_number(series, span, "fewer than two readings");
  const Span seen{std::max(span.begin, points.front().at), std::min(span.end, points.back().at)};
  if (seen.length() <= Seconds(0)) return without_number(series, span, "no readings in this time");
  const Between begin = between(points, seen.begin);
  const Between end = between(points, seen.end);
  const Joules energy{end.value() - begin.value()};
  if (energy <= Joules{0}) {
    const bool dead = seen.length() >= standstill;
    return without_number(series, span,
                          fmt::format("stood still for {:.2f} s: {}", seen.length().count(),
                                      dead ? "dead" : "too short to be measured"));
  }
  const Description& source = series.description;
  const auto found = found_update_period(series);
  const Seconds update =
      std::max(source.update_period.value_or(Seconds(0)), found.value_or(Seconds(0)));
  const double power = (energy / seen.length()).value;
  const std::vector<double> powers = powers_between(points, seen);
  double variance = end_variance(begin, powers) + end_variance(end, powers);
  variance += squared(source.resolution.value_or(0)) / 6 + squared(power * update.count()) / 6;
  for (Seconds lost : lost_stretches(series, seen)) variance += squared(power * lost.count()) / 3;
  const auto still = still_at_the_end(points, seen, update);
  if (still) variance += squared((energy / (seen.length() - *still)).value * still->count()) / 3;
  Integral integral{.energy = energy,
                    .peak = peak_over(points, seen, 5 * update),
                    .resolution = half_width(variance),
                    .covered = seen.length(),
                    .found_period = found,
                    .remarks = gaps_told(series, span)};
  if (still)
    integral.remarks.push_back(fmt::format(
        "stood still for the last {:.2f} s: what was drawn then may be missing", still->count()));
  judge_shortness(integral);
  return integral;
}

Joules half_width(double variance) { return {1.96 * std::sqrt(variance)}; }

void judge_shortness(Integral& integral) {
  if (integral.energy && integral.resolution * 2 > *integral.energy)
    integral.remarks.push_back("too short to be measured well");
}

Integral without_number(const Series& series, Span span, std::string why) {
  Integral integral{.remarks = {std::move(why)}};
  for (std::string& gap : gaps_told(series, span)) integral.remarks.push_back(std::move(gap));
  return integral;
}

}  // namespace parajoule::meter
