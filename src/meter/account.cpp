#include "meter/account.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/contradictions.h"
#include "meter/cross_check.h"
#include "meter/integrate.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

/// A number that speaks for less of the time than this, relative to others, does not stand for
/// them.
constexpr double about_all = 0.98;

/// Whether a source speaks better for its device than another, which comes before it.
bool better(const SourceAccount& source, const SourceAccount& than) {
  if (source.covered < about_all * than.covered) return false;
  if (than.covered < about_all * source.covered) return true;
  return source.description.quantity == Quantity::energy &&
         than.description.quantity != Quantity::energy;
}

/// A whole is a total of its own; of a sensor it is not known what else holds what it sees.
bool is_added(std::string_view device_kind) {
  return !is_whole(device_kind) && device_kind != "sensor";
}

/// The devices of one label that have a number, each with its best source.
class Devices {
 public:
  Devices(std::vector<SourceAccount>& sources, Label label) {
    for (SourceAccount& source : sources) {
      const Description& description = source.description;
      if (is_whole(description.device_kind)) wholes_.insert(description.device);
      if (description.label != label || !source.energy) continue;
      if (!is_added(description.device_kind)) continue;
      SourceAccount*& best = best_[description.device];
      if (!best || better(source, *best)) best = &source;
    }
  }

  void choose() {
    for (auto& [device, source] : best_) {
      source->counts = stands(device);
      for (const auto& [other, unused] : best_)
        if (holds(other, device) && stands(other)) source->counts = false;
      if (!stands(device))
        source->remarks.push_back("speaks for less time than its parts, which count in its stead");
    }
    for (auto& [device, source] : best_)
      if (is_division(*source) && metered_otherwise(source->description.device_kind))
        source->counts = false;
  }

 private:
  std::optional<std::string> above(const std::string& device) const {
    const auto found = best_.find(device);
    return found == best_.end() ? std::nullopt : found->second->description.part_of;
  }

  /// Whether `device` is a part of `whole`, or a part of a part. A record may hold nonsense: the
  /// walk ends after as many steps as there are devices.
  bool holds(const std::string& whole, const std::string& device) const {
    std::optional<std::string> around = above(device);
    for (std::size_t step = 0; around && step < best_.size(); ++step) {
      if (*around == whole) return whole != device;
      around = above(*around);
    }
    return false;
  }

  /// Whether the number of `device` speaks for as much of the time as those of its parts, or is
  /// still more than theirs: what misses a moment remains the whole.
  bool stands(const std::string& device) const {
    const SourceAccount& own = *best_.at(device);
    base::Joules next{0};  // of the parts one step down
    base::Joules below{0};
    for (const auto& [part, source] : best_) {
      if (!holds(device, part) || own.covered >= about_all * source->covered) continue;
      if (source->description.part_of == device) next += *source->energy;
      below = std::max(below, *source->energy);
    }
    return std::max(next, below) <= *own.energy;
  }

  /// Whether a node's own meter gives this number, dividing what it measures.
  bool is_division(const SourceAccount& source) const {
    return source.description.part_of && wholes_.contains(*source.description.part_of);
  }

  bool metered_otherwise(const std::string& kind) const {
    return std::ranges::any_of(best_, [&](const auto& entry) {
      const SourceAccount& source = *entry.second;
      return source.counts && source.description.device_kind == kind && !is_division(source);
    });
  }

  std::map<std::string, SourceAccount*> best_;
  std::set<std::string> wholes_;
};

/// The places of the wholes that have a number, each by its best source.
std::vector<std::size_t> best_wholes(const std::vector<SourceAccount>& sources) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].energy || !is_whole(sources[i].description.device_kind)) continue;
    const auto same = std::ranges::find(places, sources[i].description.device, [&](std::size_t j) {
      return sources[j].description.device;
    });
    if (same == places.end())
      places.push_back(i);
    else if (better(sources[i], sources[*same]))
      *same = i;
  }
  return places;
}

/// What a whole has over the measured parts.
Whole whole_of(const NodeAccount& node, std::size_t place) {
  const SourceAccount& meter = node.sources[place];
  Whole whole{.source = place};
  const bool parts_known =
      meter.description.device_kind != "module" && meter.description.label == Label::measured;
  if (!parts_known || !node.totals.measured) return whole;
  if (meter.covered <= Seconds(0) || meter.covered < about_all * node.span.length()) {
    whole.remarks.push_back("speaks for less time than the parts: no remainder");
    return whole;
  }
  const Total<Label::measured>& parts = *node.totals.measured;
  whole.remainder = *meter.energy * (node.span.length() / meter.covered) - parts.energy();
  const Uncertainty of_parts = parts.uncertainty();
  whole.uncertainty = {{std::hypot(meter.uncertainty.resolution.value, of_parts.resolution.value)},
                       {std::hypot(meter.uncertainty.bias.value, of_parts.bias.value)}};
  if (*whole.remainder + whole.uncertainty.whole() < base::Joules{0})
    whole.remarks.push_back(
        "the parts exceed the whole by more than both are unsure: one of them is wrong");
  for (const SourceAccount& part : node.sources)
    if (part.counts && part.description.label == Label::measured &&
        part.covered < about_all * node.span.length())
      whole.remarks.push_back(fmt::format(
          "{} speaks for less time: the rest of it is in the remainder", part.description.device));
  return whole;
}

/// A sensor slower than it is said to be. Its readings are where that is from.
void tell_period(const Integral& integral, SourceAccount& account) {
  const auto stated = account.description.update_period;
  if (!stated || !integral.found_period || *integral.found_period <= 1.5 * *stated) return;
  account.remarks.push_back(
      fmt::format("renewed every {:.3f} s, as its readings show, not every {:.3f} s",
                  integral.found_period->count(), stated->count()));
}

}  // namespace

bool is_whole(std::string_view device_kind) {
  return device_kind == "node" || device_kind == "outlet" || device_kind == "module";
}

std::vector<Series> by_source(std::span<const Description> descriptions,
                              std::span<const Row> rows) {
  std::vector<Series> series;
  for (const Description& description : descriptions) series.push_back({description, {}});
  for (const Row& row : rows) {
    base::ensure(row.source < series.size(), "a row's source is in the list");
    series[row.source].rows.push_back(row);
  }
  for (Series& one : series) std::ranges::stable_sort(one.rows, {}, &Row::at);
  return series;
}

SourceAccount account(const Series& series, Span span) {
  base::ensure(span.begin < span.end, "a span has a length");
  SourceAccount account{.description = series.description};
  const Quantity quantity = series.description.quantity;
  if (!energetic(series.description)) return account;
  Integral integral = quantity == Quantity::energy ? integrate_counter(series, span)
                                                   : integrate_power(series, span);
  account.energy = integral.energy;
  account.covered = integral.covered;
  account.remarks = std::move(integral.remarks);
  account.peak_power = integral.peak;
  if (!integral.energy) return account;
  account.mean_power = *integral.energy / integral.covered;
  account.uncertainty = {integral.resolution,
                         *integral.energy * series.description.bias_relative.value_or(0)};
  tell_period(integral, account);
  if (integral.covered < about_all * span.length())
    account.remarks.push_back(fmt::format("speaks for {:.2f} s of {:.2f} s",
                                          integral.covered.count(), span.length().count()));
  return account;
}

NodeAccount total(std::vector<SourceAccount> sources, Span span) {
  NodeAccount node{.span = span, .sources = std::move(sources), .totals = {}};
  for (SourceAccount& source : node.sources) source.counts = false;
  for (Label label : {Label::measured, Label::modelled, Label::simulated})
    Devices(node.sources, label).choose();
  for (const SourceAccount& source : node.sources)
    if (source.counts)
      node.totals.add(source.description.label, *source.energy, source.uncertainty,
                      sensor_type(source.description));
  for (std::size_t place : best_wholes(node.sources)) node.wholes.push_back(whole_of(node, place));
  tell_contradictions(node.sources);
  return node;
}

NodeAccount account(std::span<const Series> series, Span span) {
  std::vector<SourceAccount> sources;
  for (const Series& one : series) sources.push_back(account(one, span));
  cross_check(series, sources, span);
  return total(std::move(sources), span);
}

}  // namespace parajoule::meter
