#include <algorithm>
#include <utility>

#include "meter/integrate.h"
#include "meter/points.h"
#include "meter/timing.h"

namespace parajoule::meter {

using base::Joules;
using base::Seconds;
using base::Watts;

namespace {

/// Adds up a line through powers, piece by piece.
struct Line {
  Joules energy = {};
  double scatter = 0;          ///< variance
  double squared_bridged = 0;  ///< sum of squares of bridged seconds
  Seconds covered{0};
  Extent extent = {};

  void add(Point from, Point to) {
    const Seconds length = to.at - from.at;
    energy += Watts{(from.value + to.value) / 2} * length;
    covered += length;
    extent.take(from.value);
    extent.take(to.value);
  }

  void bridge(Seconds length) { squared_bridged += squared(length.count()); }

  double variance() const { return scatter + squared(extent.width()) * squared_bridged / 12; }
};

/// The part of the line between two readings that lies in the span.
std::pair<Point, Point> within(Point from, Point to, Span span) {
  const double slope = (to.value - from.value) / (to.at - from.at).count();
  const auto at = [&](Seconds moment) {
    return Point{moment, from.value + slope * (moment - from.at).count()};
  };
  return {at(std::max(from.at, span.begin)), at(std::min(to.at, span.end))};
}

/// The middle one of the distances between readings.
Seconds usual_distance(const std::vector<Point>& points) {
  std::vector<Seconds> distances;
  for (std::size_t i = 1; i < points.size(); ++i)
    distances.push_back(points[i].at - points[i - 1].at);
  const auto middle = distances.begin() + std::ptrdiff_t(distances.size() / 2);
  std::ranges::nth_element(distances, middle);
  return *middle;
}

void add_pieces(Line& line, const std::vector<Point>& points, Span span, Seconds usual) {
  const Seconds longest_bridge = std::max(10 * usual, Seconds(5));
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Seconds distance = points[i].at - points[i - 1].at;
    if (points[i].at <= span.begin || points[i - 1].at >= span.end) continue;
    if (distance > longest_bridge || distance <= Seconds(0)) continue;
    const auto [from, to] = within(points[i - 1], points[i], span);
    line.add(from, to);
    const Seconds length = to.at - from.at;
    line.scatter += squared((points[i].value - points[i - 1].value) * length.count()) / 2;
    if (distance > 2.5 * usual) line.bridge(length);
  }
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
    line.add({Seconds(0), value}, {held, value});
    line.bridge(held);
  }
}

std::optional<Watts> highest(const std::vector<Point>& points, Span span) {
  std::optional<Watts> peak;
  for (const Point& point : points)
    if (point.at >= span.begin && point.at <= span.end)
      peak = std::max(peak.value_or(Watts{point.value}), Watts{point.value});
  return peak;
}

}  // namespace

Integral integrate_power(const Series& series, Span span) {
  const Seconds window = series.description.window.value_or(Seconds(0));
  const std::vector<Point> points = points_of(series, window / 2);
  if (points.size() < 2) return without_number(series, span, "fewer than two readings");
  const Seconds usual = usual_distance(points);
  Line line;
  add_pieces(line, points, span, usual);
  hold_ends(line, points, span, window / 2 + 2 * usual);
  if (line.covered <= Seconds(0)) return without_number(series, span, "no readings in this time");
  const auto found = found_update_period(series);
  if (found) line.scatter *= squared(std::max(1.0, *found / usual));
  Integral integral{.energy = line.energy,
                    .peak = highest(points, span),
                    .resolution = half_width(line.variance()),
                    .covered = line.covered,
                    .found_period = found,
                    .remarks = gaps_told(series, span)};
  judge_shortness(integral);
  return integral;
}

}  // namespace parajoule::meter
