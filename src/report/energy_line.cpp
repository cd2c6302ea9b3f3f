// Energy against device hours: the identity, and what is empirical about it.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/bootstrap.h"
#include "report/decimal.h"
#include "report/regression.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

struct Lines {
  std::vector<double> hours;
  std::vector<double> energies;
  std::vector<double> weights;  ///< empty unless each point has at least three repeats
  std::vector<Point> points;
};

Lines lines_of(const std::vector<Point>& points) {
  Lines lines;
  bool weighted = true;
  for (const Point& point : points) {
    if (!point.energy_kwh || !point.device_hours) continue;
    lines.hours.push_back(point.device_hours->mean);
    lines.energies.push_back(point.energy_kwh->mean);
    lines.points.push_back(point);
    const double deviation = point.energy_kwh->deviation.value_or(0);
    weighted = weighted && point.repeats >= 3 && deviation > 0;
    lines.weights.push_back(weighted ? point.repeats / deviation / deviation : 0);
  }
  if (!weighted) lines.weights.clear();
  return lines;
}

Cell of(const Coefficient& coefficient) {
  return cell_of(std::optional(Derived{coefficient.estimate, 0, coefficient.half_width}));
}

void add_fit(Table& table, const std::string& name, const Lines& lines, bool weighted) {
  const auto found = weighted ? fit(line_design(lines.hours), lines.energies, lines.weights)
                              : fit(line_design(lines.hours), lines.energies);
  const std::string kind = weighted ? "weighted" : "ordinary";
  if (weighted && lines.weights.empty()) return;
  if (!found) {
    table.rows.push_back(
        {{name}, {kind}, {std::to_string(lines.hours.size())}, {"-"}, {"-"}, {"-"}, {"-"}});
    return;
  }
  table.rows.push_back({{name},
                        {kind},
                        {std::to_string(lines.hours.size())},
                        of(found->coefficients[1]),
                        of(found->coefficients[0]),
                        {weighted ? "-" : supported(found->residual_deviation, 0)},
                        {fmt::format("{:.6f}", std::floor(found->r_squared * 1e6) / 1e6)}});
}

Table fits_of(const std::vector<Series>& all, const Lines& pooled) {
  Table table{.id = "lines",
              .title = "Lines through energy against device hours",
              .columns = {{"points", "points"},
                          {"least squares", "kind"},
                          {"configurations", "configurations"},
                          {"slope, kWh per device hour", "slope_kw", true},
                          {"constant, kWh", "constant_kwh", true},
                          {"deviation of residuals, kWh", "residual_deviation_kwh"},
                          {"R²", "r_squared"}}};
  for (const bool weighted : {false, true}) {
    for (const Series& series : all) add_fit(table, series.name, lines_of(series.points), weighted);
    if (all.size() > 1) add_fit(table, "all, each run once", pooled, weighted);
  }
  table.notes = {
      "± is half of Student's 95 % interval from the scatter about the line, without the bias of "
      "the sensors. A dash: fewer than three configurations, or none that differ in device hours. "
      "Weights are the inverse variances of the means, only where each has at least three "
      "repeats."};
  return table;
}

Table residuals_of(const Lines& pooled, const Fit& fit) {
  Table table{.id = "residuals",
              .title = "What one line for all leaves",
              .columns = {{"series", "series"},
                          {"devices", "devices"},
                          {"local batch", "local_batch_size"},
                          {"device hours", "device_hours"},
                          {"energy, kWh", "energy_kwh"},
                          {"line, kWh", "line_kwh"},
                          {"residual, kWh", "residual_kwh"},
                          {"residual, %", "residual_percent"},
                          {"interval of one more run, ± kWh", "prediction_half_width_95_kwh"}}};
  for (std::size_t i = 0; i < pooled.points.size(); ++i) {
    const std::vector<double> at = {1, pooled.hours[i]};
    const Point& point = pooled.points[i];
    table.rows.push_back(
        {{point.series, "", anchor_of(point)},
         {std::to_string(point.devices)},
         cell_of(point.local_batch),
         cell_of(pooled.hours[i], point.device_hours->half_unit),
         cell_of(pooled.energies[i], point.energy_kwh->half_unit),
         {supported(fit.at(at), point.energy_kwh->half_unit)},
         {supported(fit.residuals[i], std::max(point.energy_kwh->half_unit, 5e-5))},
         {fmt::format("{:+.1f}", 100 * fit.residuals[i] / pooled.energies[i])},
         {supported(half_width_of_prediction(fit, at), 0.0005)}});
  }
  return table;
}

/// Student's interval over configurations, or the resampled one where they are not normal.
std::string interval_over(const std::vector<double>& powers) {
  const auto sample = sample_of(powers);
  const auto mean = [](std::span<const double> values) { return sample_of(values)->mean; };
  const auto w = normality(powers);
  if (w && p_of_normality(*w, int(powers.size())) < 0.05) {
    const auto found = bootstrap(powers, mean, 1);
    return fmt::format("{} to {} (resampled: not normal)", supported(found->low, 0.0005),
                       supported(found->high, 0.0005));
  }
  const auto half = half_width(*sample);
  if (!half) return "-";
  return fmt::format("{} to {}", supported(sample->mean - *half, 0.0005),
                     supported(sample->mean + *half, 0.0005));
}

std::vector<double> powers_of(const std::vector<Point>& points) {
  std::vector<double> powers;
  for (const Point& point : points)
    if (const auto power = energy_per_device_hour(point)) powers.push_back(power->value);
  return powers;
}

Table spread_of(const std::vector<Series>& all, const std::vector<Point>& once) {
  Table table{.id = "constancy",
              .title = "How constant is it?",
              .columns = {{"points", "points"},
                          {"configurations", "configurations"},
                          {"mean, kW a device", "mean_kw"},
                          {"95 % interval of the mean", "interval_95"},
                          {"deviation between configurations, %", "deviation_percent"},
                          {"least", "least_kw"},
                          {"most", "most_kw"}}};
  const auto add = [&](const std::string& name, const std::vector<double>& powers) {
    if (powers.empty()) return;
    const auto sample = sample_of(powers);
    table.rows.push_back(
        {{name},
         {std::to_string(powers.size())},
         {supported(sample->mean, 0.0005)},
         {interval_over(powers)},
         {sample->deviation ? fmt::format("{:.1f}", 100 * *sample->deviation / sample->mean) : "-"},
         {supported(std::ranges::min(powers), 0.0005)},
         {supported(std::ranges::max(powers), 0.0005)}});
  };
  for (const Series& series : all) add(series.name, powers_of(series.points));
  if (all.size() > 1) add("all, each run once", powers_of(once));
  return table;
}

Table derived_of(const Series& series, std::size_t number, bool population) {
  Table table{.id = fmt::format("figures-{}", number + 1),
              .title = fmt::format("{}: what a device hour costs and yields", series.name),
              .columns = configuration_columns()};
  for (const Column& column : std::vector<Column>{
           {"energy, kWh", "energy_kwh", true},
           {"device hours", "device_hours", true},
           {"wall, min", "wall_minutes", true},
           {"kWh per device hour", "kwh_per_device_hour", true},
           {"sensor bias, ±", "kwh_per_device_hour_bias"},
           {"10⁶ samples per device hour", "million_samples_per_device_hour", true},
           {"samples/s a device", "samples_per_second_per_device", true},
           {"passes per device hour", "passes_per_device_hour", true},
           {"Wh per 1000 samples", "wh_per_1000_samples", true},
           {population ? "deviation (population's), %" : "deviation of energy, %",
            population ? "energy_population_deviation_percent" : "energy_deviation_percent"}})
    table.columns.push_back(column);
  for (const Point& point : series.points) {
    auto cells = configuration_cells(point);
    const auto power = energy_per_device_hour(point);
    cells.push_back(fine_cell_of(energy_kwh(point)));
    cells.push_back(fine_cell_of(device_hours(point)));
    cells.push_back(fine_cell_of(wall_minutes(point)));
    cells.push_back(fine_cell_of(power));
    cells.push_back({power && point.bias ? supported(power->value * *point.bias, 0.0005) : "-"});
    for (const auto& value :
         {millions_of_samples_per_device_hour(point), samples_per_second_and_device(point),
          passes_per_device_hour(point), wh_per_1000_samples(point)})
      cells.push_back(fine_cell_of(value));
    const auto deviation = point.energy_kwh ? point.energy_kwh->deviation : std::nullopt;
    const double shown = !deviation   ? 0
                         : population ? population_from_sample(*deviation, point.repeats)
                                      : *deviation;
    cells.push_back(
        {deviation ? fmt::format("{:.2f}", 100 * shown / point.energy_kwh->mean) : "-"});
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      "No digit is shown that the rounding of the input leaves open. ± is half of Student's 95 % "
      "interval over the repeats; where only deviations are known, those of energy and of device "
      "hours are taken as independent. Sensor bias is common to all sensors of a type: repeats do "
      "not shrink it, and it moves every row the same way."};
  return table;
}

Figure figure_of(const std::vector<Series>& all, const Lines& pooled,
                 const std::optional<Fit>& found) {
  Figure figure{.id = "energy-line",
                .title = "Energy against device hours",
                .x = "device hours",
                .y = "kWh",
                .log_x = true,
                .log_y = true};
  for (const Series& series : all) {
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points)
      if (const auto energy = energy_kwh(point); energy && point.device_hours)
        curve.marks.push_back(
            {point.device_hours->mean, energy->value, energy->half_width.value_or(0)});
    figure.curves.push_back(std::move(curve));
  }
  if (found) {
    const auto [least, most] = std::ranges::minmax(pooled.hours);
    Curve line{.name = "one line for all", .marks = {}, .line = true};
    for (int i = 0; i <= 40; ++i) {
      const double x = least * std::pow(most / least, i / 40.0);
      line.marks.push_back({x, found->at(std::vector<double>{1, x})});
    }
    figure.curves.push_back(std::move(line));
  }
  figure.note = "Both axes are logarithmic, so a straight line is a curve where it has a constant.";
  return figure;
}

Figure power_figure(const std::vector<Series>& all) {
  Figure figure{.id = "power",
                .title = "Energy per device hour: mean power a device",
                .x = "device hours",
                .y = "kW",
                .log_x = true};
  for (const Series& series : all) {
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points)
      if (const auto power = energy_per_device_hour(point))
        curve.marks.push_back(
            {point.device_hours->mean, power->value, power->half_width.value_or(0)});
    figure.curves.push_back(std::move(curve));
  }
  figure.note = "The same points without the device hours in both axes. Bars: 95 %, repeats alone.";
  return figure;
}

void say_of_one_line(const std::vector<Point>& once, Section& section, Page& page) {
  std::vector<std::vector<double>> x, y;
  for (const Series& series : series_of(once)) {
    const Lines lines = lines_of(series.points);
    x.push_back(lines.hours);
    y.push_back(lines.energies);
  }
  const auto found = one_line_suffices(x, y);
  if (!found) {
    section.say(
        "Whether one line suffices for all series cannot be tested: that takes two series "
        "with at least three configurations each.");
    return;
  }
  const bool suffices = found->p >= 0.05;
  section.say(fmt::format(
      "Does one line suffice? F({}, {}) = {:.2f}, p = {:.2g}: {}.", found->more, found->degrees,
      found->f, found->p,
      suffices ? "the series do not need lines of their own, as far as these points can tell"
               : "the series have lines of their own, one line for all is not enough"));
  if (!suffices)
    page.not_supported.push_back(
        fmt::format("One line of energy against device hours for all series: F({}, {}) = {:.2f}, "
                    "p = {:.2g}.",
                    found->more, found->degrees, found->f, found->p));
}

/// A modelled energy is a formula's, and its constancy may be the formula's too.
void say_of_labels(const std::vector<Point>& once, Section& section, Page& page) {
  for (const std::string label : {"modelled", "simulated"}) {
    const auto count = std::ranges::count(once, label, &Point::label);
    if (count == 0) continue;
    const std::string told = fmt::format(
        "The energies of {} of {} configurations are {}, by the formulas that their records state, "
        "and not measured.",
        count, once.size(), label);
    section.say(told);
    page.not_supported.push_back(told);
  }
}

void say_of_constancy(const std::vector<Point>& once, Section& section, Page& page) {
  const auto powers = powers_of(once);
  if (powers.empty()) return;
  std::vector<double> relative;
  for (const Point& point : once)
    if (const auto power = energy_per_device_hour(point); power && power->deviation)
      relative.push_back(*power->deviation / power->value);
  const auto sample = sample_of(powers);
  const std::string range = fmt::format(
      "mean power a device, with its share of the node, lies between {} and {} kW over "
      "{} configurations",
      supported(std::ranges::min(powers), 0.0005), supported(std::ranges::max(powers), 0.0005),
      powers.size());
  page.supported.push_back(
      fmt::format("M{}: that is what energy per device hour is.", range.substr(1)));
  if (relative.empty() || !sample->deviation) return;
  const double between = 100 * *sample->deviation / sample->mean,
               within = 100 * sample_of(relative)->mean;
  section.say(fmt::format(
      "Between configurations the deviation is {:.1f} %, between repeats of one {:.1f} % on "
      "average: {}.",
      between, within,
      between > 2 * within
          ? "mean power depends on the configuration far beyond what repeats scatter"
          : "no more than repeats scatter, so far as these runs can tell"));
  if (between > 2 * within)
    page.not_supported.push_back(
        fmt::format("A constant energy per device hour: between configurations it deviates by "
                    "{:.1f} %, repeats "
                    "by {:.1f} %.",
                    between, within));
}

}  // namespace

void add_energy_line(const Request& request, Page& page) {
  Section section{.id = "energy-per-device-hour",
                  .title = "2. Is energy proportional to device hours?"};
  section.say(
      "Energy per device hour is mean power per device, by definition: both sides of the "
      "plot hold the same time. That the points lie near a line through the origin is no "
      "finding; how constant the mean power is, is one.");
  const auto all = series_of(request.points);
  const auto once = distinct(request.points);
  const Lines pooled = lines_of(once);
  const auto found = fit(line_design(pooled.hours), pooled.energies);
  section.parts.emplace_back(figure_of(all, pooled, found));
  section.parts.emplace_back(power_figure(all));
  say_of_labels(once, section, page);
  say_of_constancy(once, section, page);
  section.parts.emplace_back(spread_of(all, once));
  section.parts.emplace_back(fits_of(all, pooled));
  say_of_one_line(once, section, page);
  if (found) {
    const auto [least, most] = std::ranges::minmax(pooled.hours);
    section.say(fmt::format(
        "R² says little here: device hours span a factor of {:.0f}, and any nearly constant power "
        "gives an R² near 1.",
        most / least));
    section.parts.emplace_back(residuals_of(pooled, *found));
  } else {
    section.say(
        "No line is drawn: it takes three configurations with energy that differ in device "
        "hours.");
  }
  if (once.size() < request.points.size())
    section.say(
        fmt::format("{} of {} rows stand in more than one series and count once where all "
                    "are taken together.",
                    request.points.size() - once.size(), request.points.size()));
  for (std::size_t i = 0; i < all.size(); ++i)
    section.parts.emplace_back(derived_of(all[i], i, request.population));
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
