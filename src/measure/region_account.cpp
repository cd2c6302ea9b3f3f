#include "measure/region_account.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace parajoule::measure {
namespace {

using base::Seconds;
using meter::Span;

/// Readings so far from a region still make its ends sharper.
constexpr Seconds around{10};

/// Spans that touch are put together: where several processes are in a region, the node's energy
/// is counted once.
std::vector<Span> joined(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, &Span::begin);
  std::vector<Span> all;
  for (const Span& span : spans) {
    if (!all.empty() && span.begin <= all.back().end)
      all.back().end = std::max(all.back().end, span.end);
    else
      all.push_back(span);
  }
  return all;
}

/// The readings near a span, so that many short regions of a long run take no time.
meter::Series near(const meter::Series& series, Span span) {
  const auto& rows = series.rows;
  auto first = std::ranges::lower_bound(rows, span.begin - around, {}, &meter::Row::at);
  auto last = std::ranges::upper_bound(rows, span.end + around, {}, &meter::Row::at);
  if (first != rows.begin()) --first;
  if (last != rows.end()) ++last;
  return {series.description, {first, last}};
}

/// Ends of spans are read independently of each other, the bias is the same in all.
void add(RegionEnergy& sum, const meter::SourceAccount& more) {
  if (!more.energy) return;
  sum.energy = sum.energy.value_or(base::Joules{}) + *more.energy;
  sum.uncertainty.resolution.value =
      std::hypot(sum.uncertainty.resolution.value, more.uncertainty.resolution.value);
  sum.uncertainty.bias += more.uncertainty.bias;
}

RegionEnergy energy_of(const std::vector<Span>& spans, const meter::Series& series) {
  RegionEnergy sum{.device = series.description.device, .label = series.description.label};
  for (const Span& span : spans)
    if (span.begin < span.end) add(sum, meter::account(near(series, span), span));
  return sum;
}

}  // namespace

std::vector<Region> regions_of(std::span<const store::Phase> phases,
                               std::span<const meter::Series> series,
                               const meter::NodeAccount& whole, int node) {
  std::vector<Region> regions;
  std::map<std::string, std::vector<Span>> spans;
  for (const store::Phase& phase : phases) {
    auto& all = spans[phase.name];
    if (all.empty()) regions.push_back({.name = phase.name, .node = node});
    all.push_back({phase.begin, phase.end});
  }
  for (Region& region : regions) {
    region.entered = std::int64_t(spans[region.name].size());
    const std::vector<Span> times = joined(spans[region.name]);
    for (const Span& span : times) region.time += span.length();
    for (std::size_t i = 0; i < series.size() && i < whole.sources.size(); ++i) {
      const meter::Quantity quantity = series[i].description.quantity;
      if (quantity != meter::Quantity::energy && quantity != meter::Quantity::power) continue;
      region.energies.push_back(energy_of(times, series[i]));
      region.energies.back().counts = whole.sources[i].counts;
    }
  }
  return regions;
}

}  // namespace parajoule::measure
