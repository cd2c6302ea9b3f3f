#include "cli/report_traced.h"

#include <algorithm>

#include <fmt/format.h>

#include "measure/series.h"
#include "meter/points.h"

namespace parajoule::cli {
namespace {

using report::EnergyCurve;

constexpr std::size_t most_moments = 20000;  // a second or less, in five hours

/// Energy of one source from its first reading on: of a counter its growth, of power by trapezoids,
/// each value set back by half the time it is a mean of.
EnergyCurve curve_of(const meter::Series& series) {
  std::vector<EnergyCurve::Moment> moments;
  const bool counter = series.description.quantity == meter::Quantity::energy;
  const base::Seconds window = series.description.window.value_or(base::Seconds(0));
  const auto points = meter::points_of(series, counter ? base::Seconds(0) : window / 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const base::Watts watts{i == 0 ? 0 : (points[i].value + points[i - 1].value) / 2};
    const base::Joules energy =
        i == 0    ? base::Joules{}
        : counter ? base::Joules{points[i].value - points[0].value}
                  : moments.back().energy + watts * (points[i].at - points[i - 1].at);
    moments.push_back({points[i].at, energy});
  }
  return EnergyCurve(std::move(moments));
}

/// The sources that make up the total of a label, added up on one grid of moments.
EnergyCurve sum_of(const std::vector<EnergyCurve>& curves, meter::Span span, std::size_t moments,
                   base::Joules total) {
  std::vector<EnergyCurve::Moment> sum;
  for (std::size_t i = 0; i <= moments; ++i) {
    const base::Seconds at = span.begin + span.length() * (double(i) / double(moments));
    base::Joules energy = {};
    for (const EnergyCurve& curve : curves) energy += curve.between(span.begin, at);
    sum.push_back({at, energy});
  }
  const double found = sum.back().energy.value;
  // The account knows better what the ends are worth: the shape is the curve's, the size its.
  for (auto& moment : sum) moment.energy = moment.energy * (found > 0 ? total.value / found : 0);
  return EnergyCurve(std::move(sum));
}

std::optional<double> evaluation_of_training_set(const store::Reader& record) {
  double training = 0, all = 0;
  for (const store::Epoch& row : record.rows<store::Epoch>()) {
    if (row.metric != "loss") continue;
    all += row.denominator;
    if (row.set == "training") training += row.denominator;
  }
  if (!(training > 0) || !(all > 0)) return {};
  return training / all;
}

}  // namespace

std::optional<report::Traced> traced(const store::Reader& record, const RunAccount& account) {
  const meter::Totals& totals = account.whole.totals;
  const meter::Label label = totals.measured ? meter::Label::measured : meter::Label::modelled;
  const base::Joules total = totals.measured   ? totals.measured->energy()
                             : totals.modelled ? totals.modelled->energy()
                                               : base::Joules{};
  auto phases = record.rows<store::Phase>();
  const store::Stretch& work = account.summary.whole;
  const meter::Span span{work.begin, work.end};
  if (phases.empty() || !(total.value > 0) || span.length() <= base::Seconds(0)) return {};
  const double half = totals.measured ? totals.measured->uncertainty().whole().value
                                      : totals.modelled->uncertainty().whole().value;
  std::vector<EnergyCurve> curves;
  std::size_t moments = 1, node = 0;
  for (const auto& [number, series] : measure::series_of(record)) {
    if (node >= account.whole.nodes.size()) break;
    const auto& sources = account.whole.nodes[node++].sources;
    for (std::size_t i = 0; i < series.size() && i < sources.size(); ++i) {
      if (!sources[i].counts || sources[i].description.label != label) continue;
      curves.push_back(curve_of(series[i]));
      moments = std::max(moments, series[i].rows.size());
    }
  }
  return report::Traced{.run = fmt::format("{} ({})", record.run().name, record.run().id),
                        .begin = span.begin,
                        .end = span.end,
                        .energy = sum_of(curves, span, std::min(moments, most_moments), total),
                        .uncertainty = half / total.value,
                        .label = totals.measured ? "measured" : "modelled",
                        .phases = std::move(phases),
                        .steps = record.rows<store::Step>(),
                        .evaluation_of_training_set = evaluation_of_training_set(record)};
}

}  // namespace parajoule::cli
