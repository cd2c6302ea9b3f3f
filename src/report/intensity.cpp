// Energy per device hour against samples and passes per device hour, together.

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <set>

#include <fmt/format.h>

#include "report/decimal.h"
#include "report/regression.h"
#include "report/sections.h"

namespace parajoule::report {
namespace {

constexpr double tight = 10;  // the usual rule of thumb for variance inflation

struct Term {
  std::string name;
  std::string csv;
  std::function<double(const Point&)> value;
};

struct Model {
  std::vector<Term> terms = {};
  std::vector<std::string> constant = {};  ///< covariates that do not vary, so cannot be asked for
};

double samples_of(const Point& point) { return millions_of_samples_per_device_hour(point)->value; }
double passes_of(const Point& point) { return passes_per_device_hour(point)->value / 1000; }

std::string without_unit(const std::string& name) { return name.substr(0, name.find(',')); }

double doublings(double number) { return std::log(number) / std::numbers::ln2; }

/// Those that have all numbers.
std::vector<Point> usable(const std::vector<Point>& points) {
  std::vector<Point> found;
  for (const Point& point : points)
    if (energy_per_device_hour(point) && millions_of_samples_per_device_hour(point) &&
        passes_per_device_hour(point) && point.local_batch && point.devices > 0)
      found.push_back(point);
  return found;
}

Model covariates(const std::vector<Point>& points) {
  Model all, kept;
  all.terms = {{"samples per device hour, 10⁶", "samples", samples_of},
               {"passes per device hour, 10³", "passes", passes_of},
               {"local batch, doublings", "log2_local_batch",
                [](const Point& point) { return doublings(*point.local_batch); }},
               {"devices, doublings", "log2_devices",
                [](const Point& point) { return doublings(point.devices); }}};
  if (std::ranges::all_of(points, [](auto& point) { return point.nodes().has_value(); }))
    all.terms.push_back({"nodes per device", "nodes_per_device",
                         [](const Point& point) { return *point.nodes() / point.devices; }});
  std::set<std::string> kinds;
  for (const Point& point : points) kinds.insert(point.hardware);
  for (auto kind = std::next(kinds.begin()); kind != kinds.end(); ++kind)
    all.terms.push_back({"hardware is " + *kind, "hardware", [name = *kind](const Point& point) {
                           return double(point.hardware == name);
                         }});
  for (Term& term : all.terms) {
    std::set<double> values;
    for (const Point& point : points) values.insert(term.value(point));
    if (values.size() > 1)
      kept.terms.push_back(term);
    else
      kept.constant.push_back(without_unit(term.name));
  }
  if (kinds.size() == 1) kept.constant.push_back("hardware");
  return kept;
}

Design design_of(const std::vector<Point>& points, const std::vector<Term>& terms) {
  Design rows;
  for (const Point& point : points) {
    rows.push_back({1});
    for (const Term& term : terms) rows.back().push_back(term.value(point));
  }
  return rows;
}

std::string factor_text(double factor) {
  return std::isfinite(factor) ? fmt::format("{:.1f}", factor) : "∞";
}

/// The table of one model; gives the terms whose numbers the others nearly fix.
std::vector<std::string> add_model(const std::vector<Point>& points, const Model& model,
                                   const std::string& name, Section& section) {
  const Design rows = design_of(points, model.terms);
  std::vector<double> powers;
  for (const Point& point : points) powers.push_back(energy_per_device_hour(point)->value);
  const auto factors = variance_inflation(rows);
  const auto found = fit(rows, powers);
  Table table{.id = "regression-" + name,
              .title = "Mean power a device (kW) on " +
                       std::string(name == "two" ? "both rates" : "both rates and covariates"),
              .columns = {{"term", "term"},
                          {"coefficient, kW", "coefficient_kw", true},
                          {"p", "p"},
                          {"variance inflation", "variance_inflation"}}};
  std::vector<std::string> inseparable;
  for (std::size_t i = 0; i <= model.terms.size(); ++i) {
    std::vector<Cell> cells = {{i == 0 ? "constant" : model.terms[i - 1].name}, {"-"}, {"-"}};
    if (found) {
      const Coefficient& c = found->coefficients[i];
      cells[1] = cell_of(std::optional(Derived{c.estimate, 0, c.half_width}));
      cells[2] = {c.p < 1e-4 ? "<0.0001" : fmt::format("{:.4f}", c.p)};
    }
    cells.push_back({i == 0 ? "-" : factor_text(factors[i])});
    if (i > 0 && factors[i] > tight) inseparable.push_back(without_unit(model.terms[i - 1].name));
    table.rows.push_back(std::move(cells));
  }
  table.notes = {
      found
          ? fmt::format("{} configurations, {} degrees of freedom, R² {:.4f}, deviation of the "
                        "residuals {} kW. ± is half of the 95 % interval.",
                        points.size(), found->degrees, found->r_squared,
                        supported(found->residual_deviation, 0))
          : fmt::format("Not fitted: {} configurations for {} coefficients, or terms that fix one "
                        "another.",
                        points.size(), model.terms.size() + 1)};
  section.parts.emplace_back(std::move(table));
  return inseparable;
}

Figure figure_of(const std::vector<Series>& all, const char* id, const char* x,
                 std::optional<Derived> (*rate)(const Point&), bool log) {
  Figure figure{
      .id = id, .title = fmt::format("Mean power against {}", x), .x = x, .y = "kW", .log_x = log};
  for (const Series& series : all) {
    Curve curve{.name = series.name, .marks = {}};
    for (const Point& point : series.points) {
      const auto at = rate(point), power = energy_per_device_hour(point);
      if (at && power)
        curve.marks.push_back({at->value, power->value, power->half_width.value_or(0)});
    }
    figure.curves.push_back(std::move(curve));
  }
  figure.note =
      "Alone, neither plot tells samples from passes: passes are samples over the local "
      "batch.";
  return figure;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : "; ") + words[i];
  return text;
}

void judge(const std::vector<std::string>& inseparable, const Model& model, Section& section,
           Page& page) {
  if (!inseparable.empty())
    page.not_supported.push_back(fmt::format(
        "A separate effect of {}: in this design each is nearly fixed by the other terms (variance "
        "inflation above {:.0f}).",
        listed(inseparable), tight));
  if (!model.constant.empty())
    section.say(
        fmt::format("Not varied, so nothing is known of its effect: {}.", listed(model.constant)));
  if (inseparable.empty())
    section.say(
        "No term is fixed by the others: the design separates them, as far as a linear "
        "model does.");
}

}  // namespace

void add_intensity(const Request& request, Page& page) {
  Section section{.id = "rates",
                  .title = "3. Does a device draw more when it does more samples, or more passes?"};
  const auto points = usable(distinct(request.points));
  if (points.empty()) {
    section.say("Without samples and local batch nothing can be said of them.");
    return page.sections.push_back(std::move(section));
  }
  const auto all = series_of(request.points);
  section.parts.emplace_back(figure_of(all, "samples-rate", "10⁶ samples per device hour",
                                       millions_of_samples_per_device_hour, false));
  section.parts.emplace_back(
      figure_of(all, "passes-rate", "passes per device hour", passes_per_device_hour, true));
  const Model model = covariates(points);
  Model two;
  for (const Term& term : model.terms)
    if (term.csv == "samples" || term.csv == "passes") two.terms.push_back(term);
  const auto pair = add_model(points, two, "two", section);
  const auto inseparable = add_model(points, model, "all", section);
  if (pair.empty() && two.terms.size() == 2)
    section.say(
        "On both rates alone the design separates samples from passes, because the local "
        "batch differs between rows; but then the local batch itself, and whatever was "
        "changed along with it, may be what acts.");
  judge(inseparable.empty() ? pair : inseparable, model, section, page);
  section.say(
      "Mean power per kind of device (GPU, processor, memory) takes records with the "
      "readings of each.");
  page.sections.push_back(std::move(section));
}

}  // namespace parajoule::report
