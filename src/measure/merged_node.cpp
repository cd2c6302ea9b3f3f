#include "measure/merged_node.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"
#include "measure/series.h"
#include "measure/settings.h"
#include "measure/spans.h"
#include "store/file_name.h"

namespace parajoule::measure {
namespace {

using base::Seconds;
using meter::Series;
using meter::Span;

base::Error unmergeable(const std::filesystem::path& file, std::string_view why) {
  return {base::Fault::usage, fmt::format("'{}' {}", file.string(), why)};
}

std::optional<Span> extent_of(const std::vector<Series>& series) {
  std::optional<Span> extent;
  for (const Series& one : series) {
    if (one.rows.empty()) continue;
    if (!extent) extent = {one.rows.front().at, one.rows.back().at};
    extent->begin = std::min(extent->begin, one.rows.front().at);
    extent->end = std::max(extent->end, one.rows.back().at);
  }
  return extent;
}

bool overlap(const std::optional<Span>& a, const std::optional<Span>& b) {
  return a && b && a->begin <= b->end && b->begin <= a->end;
}

bool same_source(const meter::Description& a, const meter::Description& b) {
  return a.device == b.device && a.quantity == b.quantity && a.label == b.label &&
         a.covers == b.covers;
}

const double* value_of(const meter::Row& row) { return std::get_if<double>(&row.reading); }

/// What a counter showed at a moment, on the line through the readings around it.
std::optional<double> value_at(const Series& series, Seconds at) {
  const meter::Row* before = nullptr;
  for (const meter::Row& row : series.rows) {
    const double* value = value_of(row);
    if (!value) continue;
    if (row.at >= at) {
      if (!before) return row.at == at ? std::optional(*value) : std::nullopt;
      const double part = (at - before->at) / (row.at - before->at);
      return *value_of(*before) + part * (*value - *value_of(*before));
    }
    before = &row;
  }
  return {};
}

/// Goes on with another meter's readings of the same source where those of the first end. Counters
/// count from arbitrary starts, so the second is set to what the first one showed.
void go_on(Series& series, const Series& more) {
  if (series.rows.empty()) {
    series.rows = more.rows;
    return;
  }
  const Seconds end = series.rows.back().at;
  double offset = 0;
  if (series.description.quantity == meter::Quantity::energy) {
    const auto last = std::ranges::find_if(series.rows.rbegin(), series.rows.rend(), value_of);
    if (last == series.rows.rend()) return;
    const auto there = value_at(more, last->at);
    if (!there) return;
    offset = *value_of(*last) - *there;
  }
  for (meter::Row row : more.rows) {
    if (row.at <= end) continue;
    if (double* value = std::get_if<double>(&row.reading)) *value += offset;
    series.rows.push_back(std::move(row));
  }
}

template <class Value>
void widen(std::optional<Span>& span, const Value& more) {
  if (!more) return;
  if (!span) span = *more;
  span->begin = std::min(span->begin, more->begin);
  span->end = std::max(span->end, more->end);
}

MergedNode node_of(const Part& part) {
  MergedNode node{.node = part.node, .series = part.series};
  for (Series& series : node.series)
    for (meter::Row& row : series.rows) row.at += part.shift;
  const auto extent = extent_of(part.series);
  const auto span = [&](std::string_view name) {
    auto found = span_in(part.settings, name, part.node.node, extent ? extent->end : Seconds(0));
    if (found) found = {found->begin + part.shift, found->end + part.shift};
    return found;
  };
  node.command = span(command_span);
  node.idle = span(idle_span);
  const std::string key = fmt::format("command.{}.cpu_seconds", part.node.node);
  if (const auto cpu = number_in<double>(part.settings, key)) node.cpu = Seconds(*cpu);
  return node;
}

void merge_into(MergedNode& node, const MergedNode& more) {
  for (const Series& series : more.series) {
    const auto same = std::ranges::find_if(node.series, [&](const Series& each) {
      return same_source(each.description, series.description);
    });
    if (same == node.series.end())
      node.series.push_back(series);
    else
      go_on(*same, series);
  }
  widen(node.command, more.command);
  if (!node.idle) node.idle = more.idle;
  if (more.cpu) node.cpu = node.cpu.value_or(Seconds(0)) + *more.cpu;
}

}  // namespace

Part::Part(const std::filesystem::path& file) : file(file) {
  const store::Reader record(file);
  run = record.run();
  if (run.kind != store::Kind::measure)
    throw unmergeable(file, "is no record of `parajoule measure`: nothing to merge");
  settings = record.rows<store::Setting>();
  const auto nodes = record.rows<store::Node>();
  if (nodes.size() != 1)
    throw unmergeable(
        file, fmt::format("is a record of {} nodes; merge those of one node each", nodes.size()));
  node = nodes.front();
  auto all = series_of(record);
  series = std::move(all[node.node]);
  phases = record.rows<store::Phase>();
  notes = record.rows<store::Note>();
}

void Part::join(const Part& first) {
  const auto own_clock = number_in<double>(settings, "clock");
  const auto first_clock = number_in<double>(first.settings, "clock");
  const bool one_clock = node.boot_id == first.node.boot_id && own_clock && first_clock;
  shift = Seconds(one_clock ? *own_clock - *first_clock
                            : store::seconds_of_utc(run.started_utc) -
                                  store::seconds_of_utc(first.run.started_utc));
}

std::vector<store::Setting> MergedNode::settings(int number) const {
  std::vector<store::Setting> all;
  const auto add = [&](std::string_view name, const std::optional<Span>& span) {
    if (!span) return;
    for (store::Setting& setting : settings_of(name, number, span->begin, span->end))
      all.push_back(std::move(setting));
  };
  add(command_span, command);
  add(idle_span, idle);
  if (cpu)
    all.push_back(
        {fmt::format("command.{}.cpu_seconds", number), fmt::format("{}", cpu->count()), "found"});
  return all;
}

int add_node(const Part& part, std::vector<MergedNode>& nodes) {
  MergedNode node = node_of(part);
  const auto same = std::ranges::find_if(
      nodes, [&](const MergedNode& each) { return each.node.boot_id == node.node.boot_id; });
  if (same == nodes.end()) {
    nodes.push_back(std::move(node));
    return int(nodes.size()) - 1;
  }
  if (!overlap(extent_of(same->series), extent_of(node.series)))
    throw unmergeable(part.file, fmt::format("is of the same node as another ({}), at another "
                                             "time: they are two runs, not two nodes of one",
                                             node.node.host));
  merge_into(*same, node);
  return int(same - nodes.begin());
}

}  // namespace parajoule::measure
