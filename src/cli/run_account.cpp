#include "cli/run_account.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

namespace parajoule::cli {
namespace {

meter::Quantity meter_word(store::Quantity quantity) {
  switch (quantity) {
    case store::Quantity::energy:
      return meter::Quantity::energy;
    case store::Quantity::power:
      return meter::Quantity::power;
    case store::Quantity::temperature:
      return meter::Quantity::temperature;
    case store::Quantity::clock:
      return meter::Quantity::clock;
    case store::Quantity::utilisation:
      return meter::Quantity::utilisation;
    case store::Quantity::memory:
      break;
  }
  return meter::Quantity::memory;
}

meter::Label meter_word(store::Label label) {
  switch (label) {
    case store::Label::measured:
      return meter::Label::measured;
    case store::Label::modelled:
      return meter::Label::modelled;
    case store::Label::simulated:
      break;
  }
  return meter::Label::simulated;
}

meter::Description description_of(const store::Source& row) {
  return {.device = row.device,
          .device_kind = row.device_kind,
          .quantity = meter_word(row.quantity),
          .unit = row.unit,
          .label = meter_word(row.label),
          .covers = row.covers,
          .part_of = row.part_of,
          .resolution = row.resolution,
          .update_period = row.update_period,
          .window = row.window,
          .bias_relative = row.bias_relative,
          .formula = row.formula};
}

using Nodes = std::vector<std::vector<meter::Series>>;

/// The series of each node, in the order of the nodes.
Nodes series_of(const store::Reader& record) {
  struct Place {
    int node;
    std::size_t series;
  };
  std::map<int, Place> places;
  std::map<int, std::vector<meter::Series>> nodes;
  for (const store::Source& source : record.rows<store::Source>()) {
    auto& series = nodes[source.node];
    places[source.source] = {source.node, series.size()};
    series.push_back({description_of(source), {}});
  }
  record.each<store::Reading>([&](const store::Reading& reading) {
    const auto place = places.find(reading.source);
    if (place == places.end()) return;  // a record holds none of unknown sources
    const std::size_t number = place->second.series;
    meter::Row row{.source = number, .at = reading.seconds, .reading = 0.0};
    if (reading.value)
      row.reading = *reading.value;
    else
      row.reading = meter::parse_gap(reading.gap.value_or(""));
    nodes[place->second.node][number].rows.push_back(std::move(row));
  });
  Nodes all;
  for (auto& [node, series] : nodes) all.push_back(std::move(series));
  return all;
}

StretchAccount account_of(const Nodes& nodes, const store::Stretch& work) {
  StretchAccount account{.work = work, .nodes = {}, .totals = {}};
  const meter::Span span{work.begin, work.end};
  if (span.length() <= base::Seconds(0)) return account;
  for (const auto& series : nodes) {
    account.nodes.push_back(meter::account(series, span));
    account.totals += account.nodes.back().totals;
  }
  if (work.devices > 0)
    account.figures = meter::figures(account.totals, {.devices = work.devices,
                                                      .wall = span.length(),
                                                      .samples = work.samples,
                                                      .passes = work.passes});
  return account;
}

std::optional<meter::StudyAccount> study_account_of(const store::Reader& record, const Nodes& nodes,
                                                    const store::Stretch& work) {
  if (record.setting("meter_profile") != "study" || work.devices == 0) return {};
  const std::string batch = record.setting("local_batch_size").value_or("");
  std::int64_t local_batch_size = 0;
  std::from_chars(batch.data(), batch.data() + batch.size(), local_batch_size);
  if (local_batch_size <= 0) return {};
  return meter::study_account(nodes, {.devices = work.devices,
                                      .updates = work.passes / work.devices,
                                      .local_batch_size = local_batch_size});
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool count(BadSamples& bad, const store::Note& note) {
  const std::string_view text = note.text;
  if (text.starts_with(store::skipped_sample))
    ++bad.skipped;
  else if (text.starts_with(store::replaced_sample))
    ++bad.replaced;
  else if (text.starts_with(store::mended_damage))
    bad.mended += number_in(text.substr(store::mended_damage.size()));
  else
    return false;
  bad.notes.push_back(note);
  return true;
}

/// Nodes that are alike say the same.
void add_once(std::vector<std::string>& lines, std::string line) {
  if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
}

/// Puts each note where it is shown.
void sort_notes(std::vector<store::Note> notes, RunAccount& account) {
  for (store::Note& note : notes) {
    if (note.text.starts_with(store::not_metered))
      add_once(account.unmetered, note.text.substr(store::not_metered.size()));
    else if (note.text.starts_with(store::metering_cost))
      account.metering_cost.push_back(std::move(note.text));
    else if (!count(account.bad_samples, note))
      account.notes.push_back(std::move(note));
  }
}

}  // namespace

RunAccount account_of(const store::Reader& record) {
  store::Summary summary = store::summarise(record);
  const Nodes nodes = series_of(record);
  RunAccount account{.summary = summary,
                     .whole = account_of(nodes, summary.whole),
                     .settled = {},
                     .study = study_account_of(record, nodes, summary.whole),
                     .unmetered = {},
                     .metering_cost = {},
                     .bad_samples = {},
                     .notes = {}};
  if (summary.settled) account.settled = account_of(nodes, *summary.settled);
  sort_notes(record.rows<store::Note>(), account);
  return account;
}

}  // namespace parajoule::cli
