#include "report/comparison.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/nearest.h"
#include "report/derived.h"
#include "report/difference.h"

namespace parajoule::report {
namespace {

std::optional<Derived> error_of(const Point& point) {
  if (!point.error || point.error->mean <= 0) return {};
  return Derived{point.error->mean, point.error->half_unit, {}, point.error->deviation};
}

using Number = std::optional<Derived> (*)(const Point&);
const std::map<std::string_view, Number>& numbers() {
  static const std::map<std::string_view, Number> all = {
      {"energy_joules",
       [](const Point& p) {
         return derived(p, 3.6e6, {1, 0});
       }},
      {"wall_seconds",
       [](const Point& p) {
         return p.devices < 1 ? std::optional<Derived>() : derived(p, 3600.0 / p.devices, {0, 1});
       }},
      {"device_hours", device_hours},
      {"joules_per_sample",
       [](const Point& p) {
         return p.samples ? derived(p, 3.6e6 / *p.samples, {1, 0}) : std::optional<Derived>();
       }},
      {"error", error_of}};
  return all;
}

bool same_configuration(const Point& a, const Point& b) {
  return a.devices == b.devices && a.local_batch == b.local_batch &&
         a.global_batch == b.global_batch && a.data_set == b.data_set && a.epochs == b.epochs &&
         a.label == b.label;
}

struct Pair {
  Sample first;
  Sample second;
};

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw base::Error(
      base::Fault::usage,
      fmt::format("--fail-if '{}': {}; it looks like \"energy_joules>+3%\"", text, why));
}

}  // namespace

const std::vector<std::string_view>& compared_quantities() {
  static const std::vector<std::string_view> names = {"energy_joules", "wall_seconds",
                                                      "device_hours", "joules_per_sample", "error"};
  return names;
}

Limit limit_of(std::string_view text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == std::string_view::npos) refuse(text, "there is no > or <");
  const std::string_view name = text.substr(0, at);
  if (std::ranges::find(compared_quantities(), name) == compared_quantities().end())
    refuse(text, fmt::format("no quantity '{}'{}", name, base::hint(name, compared_quantities())));
  std::string_view number = text.substr(at + 1);
  if (number.starts_with('+')) number.remove_prefix(1);
  double percent = 0;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), percent);
  if (failed != std::errc() || std::string_view(end, number.data() + number.size()) != "%" ||
      !(percent > -100) || !std::isfinite(percent))
    refuse(text, "the limit is no percentage above -100 %");
  return {std::string(name), text[at] == '>', percent};
}

Comparison compared(const std::vector<Point>& first, const std::vector<Point>& second,
                    std::string_view quantity) {
  const Number number = numbers().at(quantity);
  std::vector<Pair> pairs;
  Comparison result{.quantity = std::string(quantity)};
  for (const Point& a : first)
    for (const Point& b : second) {
      const auto one = number(a), other = number(b);
      if (!same_configuration(a, b) || !one || !other) continue;
      pairs.push_back(
          {{one->value, one->deviation, a.repeats}, {other->value, other->deviation, b.repeats}});
      const int fewest = std::min(a.repeats, b.repeats);
      result.repeats = result.configurations == 0 ? fewest : std::min(result.repeats, fewest);
      ++result.configurations;
    }
  if (pairs.empty()) return result;
  if (pairs.size() == 1) {
    const Pair& pair = pairs.front();
    const double percent = 100 / pair.first.mean;
    result.change_percent = percent * (pair.second.mean - pair.first.mean);
    if (const auto found = difference(pair.first, pair.second))
      result.half_width = percent * found->half_width;
    return result;
  }
  std::vector<double> ratios;
  for (const Pair& pair : pairs) ratios.push_back(std::log(pair.second.mean / pair.first.mean));
  const auto sample = sample_of(ratios);
  result.change_percent = 100 * std::expm1(sample->mean);
  if (const auto half = half_width(*sample))
    result.half_width = 100 * std::exp(sample->mean) * std::sinh(*half);
  return result;
}

Judgement judged(const Comparison& comparison, const Limit& limit) {
  if (!comparison.change_percent || !comparison.half_width) return Judgement::unknown;
  const double sign = limit.above ? 1 : -1;
  const double beyond = sign * (*comparison.change_percent - limit.percent);
  if (beyond > *comparison.half_width) return Judgement::worse;
  if (beyond <= -*comparison.half_width) return Judgement::within;
  return Judgement::unknown;
}

}  // namespace parajoule::report
