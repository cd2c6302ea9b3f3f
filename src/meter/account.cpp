#include "meter/account.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "meter/integrate.h"

namespace parajoule::meter {

using base::Seconds;

namespace {

/// A number that speaks for less of the time than this, relative to others, does not stand for
/// them.
constexpr double about_all = 0.98;

/// Sensors of one type share their bias.
std::string type_of(const Description& description) {
  return fmt::format("{} {} {}", description.device_kind, name_of(description.quantity),
                     description.bias_relative.value_or(0));
}

/// The devices of one label that have a number, each with its best source.
class Devices {
 public:
  Devices(std::vector<SourceAccount>& sources, Label label) {
    for (SourceAccount& source : sources) {
      if (source.description.label != label || !source.energy) continue;
      SourceAccount*& best = best_[source.description.device];
      const bool counter = source.description.quantity == Quantity::energy;
      if (!best || (counter && best->description.quantity != Quantity::energy)) best = &source;
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

  /// Whether the number of `device` speaks for as much of the time as those of its parts.
  bool stands(const std::string& device) const {
    const Seconds own = best_.at(device)->covered;
    return std::ranges::none_of(best_, [&](const auto& entry) {
      return holds(device, entry.first) && own < about_all * entry.second->covered;
    });
  }

  std::map<std::string, SourceAccount*> best_;
};

}  // namespace

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
  if (quantity != Quantity::energy && quantity != Quantity::power) return account;
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
                      type_of(source.description));
  return node;
}

NodeAccount account(std::span<const Series> series, Span span) {
  std::vector<SourceAccount> sources;
  for (const Series& one : series) sources.push_back(account(one, span));
  return total(std::move(sources), span);
}

}  // namespace parajoule::meter
