#include "measure/account.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <variant>

#include <fmt/format.h>

#include "measure/series.h"
#include "measure/settings.h"
#include "measure/spans.h"

namespace parajoule::measure {
namespace {

using base::Joules;
using base::Seconds;
using meter::Span;

/// First to last reading of a node: its span if the meter was killed.
Span read_span(const std::vector<meter::Series>& series) {
  std::optional<Seconds> first;
  Seconds last{0};
  for (const meter::Series& one : series)
    for (const meter::Row& row : one.rows) {
      first = std::min(first.value_or(row.at), row.at);
      last = std::max(last, row.at);
    }
  return {first.value_or(last), last};
}

/// The accelerators that somebody computed on in a span, each with what shows it. Whatever holds a
/// part of them was not idle either.
std::map<std::string, std::string> used_in(const std::vector<meter::Series>& series, Span span) {
  constexpr double busy = 0.05;  // a look at a GPU costs it less
  std::map<std::string, std::string> used;
  for (const meter::Series& one : series) {
    const meter::Description& is = one.description;
    if (is.device_kind != "gpu" || is.quantity != meter::Quantity::utilisation) continue;
    double sum = 0;
    double most = 0;
    int count = 0;
    for (const meter::Row& row : one.rows) {
      const auto* value = std::get_if<double>(&row.reading);
      if (!value || row.at < span.begin || row.at > span.end) continue;
      sum += *value;
      most = std::max(most, *value);
      ++count;
    }
    if (is.unit == "processes" && most > 0)
      used[is.device] = fmt::format("{} processes computed on it", most);
    else if (is.unit == "fraction" && count > 0 && sum / count > busy && !used.contains(is.device))
      used[is.device] = fmt::format("it was {:.0f} % busy", 100 * sum / count);
  }
  const auto direct = used;
  for (const meter::Series& one : series) {
    const auto part = direct.find(one.description.device);
    if (part != direct.end() && one.description.part_of)
      used.emplace(*one.description.part_of,
                   fmt::format("{} within it was used", one.description.device));
  }
  if (direct.empty()) return used;
  for (const meter::Series& one : series)
    if (meter::is_whole(one.description.device_kind))
      used.emplace(one.description.device, fmt::format("{} was used", direct.begin()->first));
  return used;
}

NodeEnergy energy_of(const store::Node& node, const std::vector<meter::Series>& series,
                     const Account& account) {
  const Span read = read_span(series);
  const Span span = span_in(account.settings, command_span, node.node, read.end).value_or(read);
  NodeEnergy energy{.node = node, .command = {.span = span, .sources = {}, .totals = {}}};
  const std::string key = fmt::format("command.{}.cpu_seconds", node.node);
  if (const auto seconds = number_in<double>(account.settings, key)) energy.cpu = Seconds(*seconds);
  if (span.length() <= Seconds(0)) return energy;
  energy.command = meter::account(series, span);
  energy.idle = span_in(account.settings, idle_span, node.node, span.begin);
  if (!energy.idle || energy.idle->length() <= Seconds(0)) return energy;
  const auto used = used_in(series, *energy.idle);
  energy.above = above_idle(energy.command, meter::account(series, *energy.idle), used);
  for (meter::SourceAccount& source : energy.command.sources)
    if (const auto found = used.find(source.description.device);
        found != used.end() && source.energy)
      source.remarks.push_back(
          fmt::format("no energy above idle: before the command {}", found->second));
  return energy;
}

int accelerators_of(const meter::NodeAccount& node) {
  std::set<std::string> devices;
  for (const meter::SourceAccount& source : node.sources)
    if (source.description.device_kind == "gpu" && source.energy)
      devices.insert(source.description.device);
  return int(devices.size());
}

void add_up(Account& account) {
  account.above.emplace();
  for (const NodeEnergy& node : account.nodes) {
    account.wall = std::max(account.wall, node.command.span.length());
    account.totals += node.command.totals;
    account.accelerators += accelerators_of(node.command);
    if (node.cpu) account.cpu = account.cpu.value_or(Seconds(0)) + *node.cpu;
    if (node.above && account.above)
      *account.above += node.above->totals;
    else
      account.above.reset();
  }
  if (account.nodes.empty()) account.above.reset();
  if (account.accelerators > 0 && account.wall > Seconds(0))
    account.figures =
        meter::figures(account.totals, {.devices = account.accelerators, .wall = account.wall});
}

void sort_notes(std::vector<store::Note> notes, Account& account) {
  const auto add_once = [](std::vector<std::string>& lines, std::string line) {
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
  };
  for (store::Note& note : notes) {
    if (note.text.starts_with(store::not_metered))
      add_once(account.unmetered, note.text.substr(store::not_metered.size()));
    else if (note.text.starts_with(store::metering_cost))
      account.metering_cost.push_back(std::move(note.text));
    else
      account.notes.push_back(std::move(note));
  }
}

void add_regions(const store::Reader& record,
                 const std::map<int, std::vector<meter::Series>>& series, Account& account) {
  std::map<int, std::vector<store::Phase>> phases;
  // Each process has a number, and a setting says on which node it ran; else it is the only one.
  record.each<store::Phase>([&](const store::Phase& phase) {
    const auto node = number_in<int>(account.settings, fmt::format("process.{}.node", phase.rank));
    phases[node.value_or(0)].push_back(phase);
  });
  for (const NodeEnergy& node : account.nodes) {
    const auto own = series.find(node.node.node);
    if (own == series.end()) continue;
    for (Region& region :
         regions_of(phases[node.node.node], own->second, node.command, node.node.node))
      account.regions.push_back(std::move(region));
  }
}

}  // namespace

std::optional<std::string> Account::setting(std::string_view key) const {
  const auto value = find(settings, key);
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

meter::NodeAccount above_idle(const meter::NodeAccount& command, const meter::NodeAccount& idle,
                              const std::map<std::string, std::string>& used) {
  std::vector<meter::SourceAccount> sources = command.sources;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    meter::SourceAccount& source = sources[i];
    source.mean_power.reset();
    source.peak_power.reset();
    source.remarks.clear();
    const meter::SourceAccount& before = idle.sources[i];
    if (!source.energy) continue;
    if (!before.energy || before.covered <= Seconds(0)) {
      source.energy.reset();
      source.remarks.push_back("was not metered while idle");
      continue;
    }
    if (used.contains(source.description.device)) {
      source.energy.reset();
      source.remarks.push_back("was not idle");
      continue;
    }
    const double times = source.covered / before.covered;
    const Joules whole = *source.energy;
    source.energy = whole - *before.energy * times;
    source.mean_power = *source.energy / source.covered;
    source.uncertainty.resolution.value = std::hypot(source.uncertainty.resolution.value,
                                                     times * before.uncertainty.resolution.value);
    source.uncertainty.bias.value =
        std::abs(source.energy->value) * source.description.bias_relative.value_or(0);
  }
  meter::NodeAccount above = meter::total(std::move(sources), command.span);
  for (std::size_t i = 0; i < above.sources.size(); ++i) {
    if (!command.sources[i].counts || above.sources[i].energy) continue;
    const meter::Label label = command.sources[i].description.label;
    if (label == meter::Label::measured) above.totals.measured.reset();
    if (label == meter::Label::modelled) above.totals.modelled.reset();
    if (label == meter::Label::simulated) above.totals.simulated.reset();
  }
  return above;
}

Account account_of(const store::Reader& record) {
  Account account{.run = record.run(), .standing = record.standing(), .nodes = {}};
  account.settings = record.rows<store::Setting>();
  const auto series = series_of(record);
  for (const store::Node& node : record.rows<store::Node>()) {
    const auto own = series.find(node.node);
    account.nodes.push_back(
        energy_of(node, own == series.end() ? std::vector<meter::Series>() : own->second, account));
  }
  account.expected_nodes =
      std::max(number_in<int>(account.settings, "nodes").value_or(1), int(account.nodes.size()));
  account.status = number_in<int>(account.settings, "status");
  sort_notes(record.rows<store::Note>(), account);
  add_up(account);
  add_regions(record, series, account);
  return account;
}

}  // namespace parajoule::measure
