#include "meter/integrate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

constexpr double confidence = 1.96;  // of 95 %, normal
constexpr Seconds standstill{1};     // a counter that has not moved for so long is dead

struct Point {
  Seconds at;
  double value;
};

std::vector<Point> points_of(const Series& series, Seconds earlier) {
  std::vector<Point> points;
  for (const Row& row : series.rows)
    if (const auto* value = std::get_if<double>(&row.reading))
      points.push_back({row.at - earlier, *value});
  return points;
}

double squared(double x) { return x * x; }

/// Least and greatest of some numbers.
struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double width() const { return high - low; }
};

/// Gaps of a span, told in a line a cause.
std::vector<std::string> gaps_told(const Series& series, Span span) {
  std::vector<std::string> remarks;
  using Cause = Gap::Cause;
  for (Cause cause : {Cause::failed, Cause::implausible, Cause::reset, Cause::missed_wrap,
                      Cause::suspended, Cause::late}) {
    int count = 0;
    const Gap* first = nullptr;
    for (const Row& row : series.rows) {
      const auto* gap = std::get_if<Gap>(&row.reading);
      if (!gap || gap->cause != cause || row.at < span.begin || row.at > span.end) continue;
      if (count++ == 0) first = gap;
    }
    if (count == 1) remarks.push_back(written(*first));
    if (count > 1) remarks.push_back(fmt::format("{} times {}", count, written(*first)));
  }
  return remarks;
}

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
  const Between found{*(after - 1), *after};
  const Seconds distance = found.distance();
  return {found.before, found.after, (at - found.before.at) / distance};
}

/// Powers between neighbouring readings within `span` and around its ends.
std::vector<double> powers_between(const std::vector<Point>& points, Span span) {
  std::vector<double> powers;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Seconds passed = points[i].at - points[i - 1].at;
    if (points[i].at <= span.begin || points[i - 1].at >= span.end || passed <= Seconds(0))
      continue;
    powers.push_back((points[i].value - points[i - 1].value) / passed.count());
  }
  return powers;
}

/// Of a power that jumps once, by as much as powers differed, somewhere between two readings.
double end_variance(const Between& end, const std::vector<double>& powers) {
  const double rise = end.after.value - end.before.value;
  double jump = 2 * rise;  // too few powers to tell: from nothing to twice the mean
  if (powers.size() > 2) {
    Extent extent;
    for (double power : powers) extent.take(power);
    jump = extent.width() * end.distance().count();
  }
  return squared(jump * end.fraction * (1 - end.fraction)) / 3;
}

/// Seconds between the last reading before each reset of a counter and the reset.
std::vector<Seconds> lost_stretches(const Series& series, Span span) {
  std::vector<Seconds> stretches;
  std::optional<Seconds> last;
  for (const Row& row : series.rows) {
    const auto* gap = std::get_if<Gap>(&row.reading);
    if (!gap) last = row.at;
    const bool inside = row.at >= span.begin && last.value_or(row.at) <= span.end;
    if (gap && gap->cause == Gap::Cause::reset && inside)
      stretches.push_back(row.at - last.value_or(row.at));
  }
  return stretches;
}

/// Highest mean power over at least `length`, among pairs of readings in the span.
std::optional<Watts> peak_over(const std::vector<Point>& points, Span span, Seconds length) {
  std::optional<Watts> peak;
  std::size_t first = 0;
  for (std::size_t last = 0; last < points.size(); ++last) {
    if (points[last].at > span.end) break;
    while (first + 1 < last && points[last].at - points[first + 1].at >= length) ++first;
    const Seconds passed = points[last].at - points[first].at;
    if (points[first].at < span.begin || passed < length || passed <= Seconds(0)) {
      if (points[first].at < span.begin) ++first;
      continue;
    }
    const Watts power = Joules{points[last].value - points[first].value} / passed;
    peak = std::max(peak.value_or(power), power);
  }
  return peak;
}

Integral nothing(const Series& series, Span span, std::string why) {
  Integral integral{.remarks = gaps_told(series, span)};
  integral.remarks.insert(integral.remarks.begin(), std::move(why));
  return integral;
}

void judge_shortness(Integral& integral) {
  if (integral.energy && integral.resolution * 2 > *integral.energy)
    integral.remarks.push_back("too short to be measured well");
}

/// Numbers that differ least from all: the middle one.
Seconds usual_distance(const std::vector<Point>& points) {
  std::vector<Seconds> distances;
  for (std::size_t i = 1; i < points.size(); ++i)
    distances.push_back(points[i].at - points[i - 1].at);
  if (distances.empty()) return Seconds(0);
  const auto middle = distances.begin() + std::ptrdiff_t(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return *middle;
}

}  // namespace

Integral integrate_counter(const Series& series, Span span) {
  const std::vector<Point> points = points_of(series, Seconds(0));
  if (points.size() < 2) return nothing(series, span, "fewer than two readings");
  const Span seen{std::max(span.begin, points.front().at), std::min(span.end, points.back().at)};
  if (seen.length() <= Seconds(0)) return nothing(series, span, "no readings in this time");
  const Between begin = between(points, seen.begin);
  const Between end = between(points, seen.end);
  const Joules energy{end.value() - begin.value()};
  if (energy <= Joules{0}) {
    const bool dead = seen.length() >= standstill;
    return nothing(series, span,
                   fmt::format("stood still for {:.2f} s: {}", seen.length().count(),
                               dead ? "dead" : "too short to be measured"));
  }
  const Description& source = series.description;
  const Seconds update = source.update_period.value_or(Seconds(0));
  const double power = (energy / seen.length()).value;
  const std::vector<double> powers = powers_between(points, seen);
  double variance =
      squared(source.resolution.value_or(0)) / 6 + squared(power * update.count()) / 6;
  variance += end_variance(begin, powers) + end_variance(end, powers);
  for (Seconds lost : lost_stretches(series, seen)) variance += squared(power * lost.count()) / 3;
  Integral integral{.energy = energy,
                    .peak = peak_over(points, seen, 5 * update),
                    .resolution = Joules{confidence * std::sqrt(variance)},
                    .covered = seen.length(),
                    .remarks = gaps_told(series, span)};
  judge_shortness(integral);
  return integral;
}

namespace {

/// Adds up a line through powers, piece by piece.
struct Line {
  Joules energy;
  double scatter = 0;  ///< variance
  double bridged = 0;  ///< sum of squares of bridged seconds
  Seconds covered{0};
  Extent extent = {};

  void add_piece(Point from, Point to) {
    const Seconds length = to.at - from.at;
    energy += Watts{(from.value + to.value) / 2} * length;
    covered += length;
    extent.take(from.value);
    extent.take(to.value);
  }
};

/// The part of the line between two readings that lies in the span.
std::pair<Point, Point> within(Point from, Point to, Span span) {
  const double slope = (to.value - from.value) / (to.at - from.at).count();
  const auto at = [&](Seconds moment) {
    return Point{moment, from.value + slope * (moment - from.at).count()};
  };
  return {at(std::max(from.at, span.begin)), at(std::min(to.at, span.end))};
}

/// What lies before the first or behind the last reading is as that, for a short while.
void hold_ends(Line& line, const std::vector<Point>& points, Span span, Seconds longest) {
  const Point first = points.front();
  const Point last = points.back();
  const Seconds before = std::min(first.at, span.end) - std::max(first.at - longest, span.begin);
  const Seconds behind = std::min(last.at + longest, span.end) - std::max(last.at, span.begin);
  for (const auto& [held, value] :
       {std::pair(before, first.value), std::pair(behind, last.value)}) {
    if (held <= Seconds(0)) continue;
    line.add_piece({Seconds(0), value}, {held, value});
    line.bridged += squared(held.count());
  }
}

}  // namespace

Integral integrate_power(const Series& series, Span span) {
  const Seconds window = series.description.window.value_or(Seconds(0));
  const std::vector<Point> points = points_of(series, window / 2);
  if (points.size() < 2) return nothing(series, span, "fewer than two readings");
  const Seconds usual = usual_distance(points);
  const Seconds bridge = std::max(10 * usual, Seconds(5));
  Line line;
  std::optional<Watts> peak;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].at >= span.begin && points[i].at <= span.end)
      peak = std::max(peak.value_or(Watts{points[i].value}), Watts{points[i].value});
    if (i == 0 || points[i].at <= span.begin || points[i - 1].at >= span.end) continue;
    const Seconds distance = points[i].at - points[i - 1].at;
    if (distance > bridge || distance <= Seconds(0)) continue;
    const auto [from, to] = within(points[i - 1], points[i], span);
    line.add_piece(from, to);
    const double length = (to.at - from.at).count();
    line.scatter += squared((points[i].value - points[i - 1].value) * length) / 2;
    if (distance > 2.5 * usual) line.bridged += squared(length);
  }
  hold_ends(line, points, span, window / 2 + 2 * usual);
  if (line.covered <= Seconds(0)) return nothing(series, span, "no readings in this time");
  const double variance = line.scatter + squared(line.extent.width()) * line.bridged / 12;
  Integral integral{.energy = line.energy,
                    .peak = peak,
                    .resolution = Joules{confidence * std::sqrt(variance)},
                    .covered = line.covered,
                    .remarks = gaps_told(series, span)};
  judge_shortness(integral);
  return integral;
}

}  // namespace parajoule::meter
