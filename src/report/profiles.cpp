// Power over time, on an equal footing: all runs over the same windows.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

constexpr std::size_t most_runs = 6;  // curves that a figure keeps apart
constexpr double most_windows = 300;  // of the longest run: what a figure has room for
constexpr double least_window = 1;    // seconds: some boards give means over one

/// Mean power, window by window.
std::vector<double> profile_of(const Traced& run, base::Seconds window) {
  std::vector<double> watts;
  const auto count = std::size_t((run.end - run.begin) / window);
  for (std::size_t i = 0; i < count; ++i) {
    const base::Seconds from = run.begin + double(i) * window;
    watts.push_back((run.energy.between(from, from + window) / window).value);
  }
  return watts;
}

double quantile(const std::vector<double>& ordered, double part) {
  const double place = part * double(ordered.size() - 1);
  const auto at = std::size_t(place);
  const std::size_t next = std::min(at + 1, ordered.size() - 1);
  return ordered[at] + (place - double(at)) * (ordered[next] - ordered[at]);
}

/// How often power falls below half of its median, having been above.
int dips(const std::vector<double>& watts, double threshold) {
  int count = 0;
  for (std::size_t i = 1; i < watts.size(); ++i)
    count += watts[i - 1] >= threshold && watts[i] < threshold;
  return count;
}

std::vector<Cell> row_of(const Traced& run, const std::vector<double>& watts) {
  std::vector<double> ordered = watts;
  std::ranges::sort(ordered);
  const auto sample = sample_of(watts);
  const double middle = quantile(ordered, 0.5);
  const double open = sample->mean / 2000;
  return {
      {run.run},
      {run.label},
      {supported(sample->mean, open)},
      {sample->deviation ? fmt::format("{:.1f}", 100 * *sample->deviation / sample->mean) : "-"},
      {supported(quantile(ordered, 0.05), open)},
      {supported(middle, open)},
      {supported(quantile(ordered, 0.95), open)},
      {std::to_string(dips(watts, middle / 2))}};
}

}  // namespace

void add_profiles(const Request& request, Page& page) {
  if (request.traced.empty()) return;
  Section section{.id = "profiles", .title = "4. How does power go over time?"};
  double longest = 0;
  for (const Traced& run : request.traced)
    longest = std::max(longest, (run.end - run.begin).count());
  const base::Seconds window(std::max(least_window, std::ceil(longest / most_windows)));
  Figure figure{.id = "profiles",
                .title = fmt::format("Power, means over {:.0f} s", window.count()),
                .x = "seconds since the start",
                .y = "W"};
  Table table{
      .id = "profiles",
      .title = fmt::format("Power of the whole run, in windows of {:.0f} s", window.count()),
      .columns = {{"run", "run"},
                  {"label", "label"},
                  {"mean, W", "mean_watts"},
                  {"deviation, %", "deviation_percent"},
                  {"5 of 100 below", "quantile_05_watts"},
                  {"median", "median_watts"},
                  {"5 of 100 above", "quantile_95_watts"},
                  {"dips below half", "dips"}}};
  for (const Traced& run : request.traced) {
    const auto watts = profile_of(run, window);
    if (watts.empty()) continue;
    table.rows.push_back(row_of(run, watts));
    if (figure.curves.size() == most_runs) continue;
    Curve curve{.name = run.run, .marks = {}, .line = true};
    for (std::size_t i = 0; i < watts.size(); ++i)
      curve.marks.push_back({(double(i) + 0.5) * window.count(), watts[i]});
    figure.curves.push_back(std::move(curve));
  }
  if (table.rows.empty()) {
    section.say("Every run is shorter than the window of a second.");
  } else {
    figure.note =
        "All sources that count, together. Sensors that give means over different times "
        "are compared over windows that are at least as long as any of them.";
    section.parts.emplace_back(std::move(figure));
    section.parts.emplace_back(std::move(table));
  }
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
