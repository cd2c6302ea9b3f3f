#include "report/point.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace parajoule::report {
namespace {

auto configuration(const Point& point) {
  return std::tie(point.series, point.hardware, point.label, point.devices, point.devices_per_node,
                  point.local_batch, point.global_batch, point.data_set, point.epochs,
                  point.error_name);
}

/// A mean over some of the repeats would pass for one over all.
bool equally_complete(const Point& a, const Point& b) {
  return a.energy_kwh.has_value() == b.energy_kwh.has_value() &&
         a.device_hours.has_value() == b.device_hours.has_value() &&
         a.error.has_value() == b.error.has_value();
}

std::optional<Measured> measured(const std::vector<double>& values, double half_unit) {
  const auto sample = sample_of(values);
  if (!sample) return {};
  return Measured{sample->mean, half_unit, sample->deviation};
}

void add_words(std::vector<std::string>& words, const std::vector<std::string>& more) {
  for (const std::string& word : more)
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
}

/// Of one number that runs may lack.
std::optional<Measured> over_runs(const std::vector<Point>& runs,
                                  std::optional<Measured> Point::*number) {
  std::vector<double> values;
  double half_unit = 0;
  for (const Point& run : runs)
    if (run.*number) {
      values.push_back((run.*number)->mean);
      half_unit = std::max(half_unit, (run.*number)->half_unit);
    }
  return measured(values, half_unit);
}

Point mean_of(const std::vector<Point>& runs) {
  Point point = runs.front();
  point.repeats = int(runs.size());
  point.energy_kwh = over_runs(runs, &Point::energy_kwh);
  point.device_hours = over_runs(runs, &Point::device_hours);
  point.error = over_runs(runs, &Point::error);
  for (const Point& run : runs) {
    if (run.energy_kwh && run.device_hours)
      point.singles.push_back({run.energy_kwh->mean, run.device_hours->mean});
    if (run.error) point.errors.push_back(run.error->mean);
    if (run.bias) point.bias = std::max(point.bias.value_or(0), *run.bias);
    add_words(point.seeds, run.seeds);
    add_words(point.behind, run.behind);
  }
  // The mean of what the repeats took, which may differ by a batch.
  for (const auto number : {&Point::samples, &Point::passes}) {
    double sum = 0;
    for (const Point& run : runs) sum += (run.*number).value_or(std::nan(""));
    if (std::isfinite(sum)) point.*number = sum / double(runs.size());
  }
  return point;
}

bool same_runs(const Point& a, const Point& b) {
  if (a.hardware != b.hardware || a.label != b.label || a.devices != b.devices) return false;
  if (a.local_batch != b.local_batch || a.global_batch != b.global_batch) return false;
  if (a.data_set != b.data_set || a.epochs != b.epochs || a.repeats != b.repeats) return false;
  if (!a.singles.empty() && a.behind == b.behind) return true;
  const auto equal = [](const auto& one, const auto& other) {
    return one && other && one->mean == other->mean && one->deviation == other->deviation;
  };
  return equal(a.energy_kwh, b.energy_kwh) && equal(a.device_hours, b.device_hours) &&
         a.energy_kwh->deviation.has_value();
}

}  // namespace

std::optional<double> Point::nodes() const {
  if (!devices_per_node || *devices_per_node <= 0 || devices < 1) return {};
  return std::max(1.0, std::ceil(devices / *devices_per_node));
}

std::optional<double> Point::wall_hours() const {
  if (!device_hours || devices < 1 || device_hours->mean <= 0) return {};
  return device_hours->mean / devices;
}

std::vector<Point> grouped(const std::vector<Point>& rows) {
  std::vector<std::vector<Point>> groups;
  for (const Point& row : rows) {
    const auto same = [&](const std::vector<Point>& group) {
      return row.repeats == 1 && group.front().repeats == 1 &&
             equally_complete(group.front(), row) &&
             configuration(group.front()) == configuration(row);
    };
    const auto found = std::ranges::find_if(groups, same);
    if (found != groups.end())
      found->push_back(row);
    else
      groups.push_back({row});
  }
  std::vector<Point> points;
  for (const auto& group : groups)
    points.push_back(group.front().repeats == 1 ? mean_of(group) : group.front());
  return points;
}

std::vector<Point> distinct(const std::vector<Point>& points) {
  std::vector<Point> once;
  for (const Point& point : points)
    if (std::ranges::none_of(once, [&](const Point& other) { return same_runs(point, other); }))
      once.push_back(point);
  return once;
}

std::vector<Series> series_of(const std::vector<Point>& points) {
  std::vector<Series> all;
  for (const Point& point : points) {
    auto found = std::ranges::find(all, point.series, &Series::name);
    if (found == all.end()) found = all.insert(all.end(), {.name = point.series, .points = {}});
    found->points.push_back(point);
  }
  for (Series& series : all) std::ranges::stable_sort(series.points, {}, &Point::devices);
  return all;
}

}  // namespace parajoule::report
