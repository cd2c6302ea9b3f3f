#include "cli/run_account.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "measure/account.h"
#include "measure/series.h"

namespace parajoule::cli {
namespace {

using Nodes = std::vector<std::vector<meter::Series>>;

/// The series of each node, in the order of the nodes.
Nodes series_of(const store::Reader& record) {
  Nodes all;
  for (auto& [node, series] : measure::series_of(record)) all.push_back(std::move(series));
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

/// Of a command: energies are those of the time it ran, on each node its own.
void account_command(const store::Reader& record, RunAccount& account) {
  measure::Account measured = measure::account_of(record);
  store::Stretch& work = account.summary.whole;
  work.begin = base::Seconds(0);
  work.end = measured.wall;
  account.whole = {.work = work, .nodes = {}, .totals = measured.totals};
  for (measure::NodeEnergy& node : measured.nodes)
    account.whole.nodes.push_back(std::move(node.command));
}

}  // namespace

RunAccount account_of(const store::Reader& record) {
  store::Summary summary = store::summarise(record);
  RunAccount account{.summary = summary,
                     .whole = {},
                     .settled = {},
                     .study = {},
                     .unmetered = {},
                     .metering_cost = {},
                     .bad_samples = {},
                     .notes = {}};
  if (summary.run.kind == store::Kind::measure) {
    account_command(record, account);
  } else {
    const Nodes nodes = series_of(record);
    account.whole = account_of(nodes, summary.whole);
    account.study = study_account_of(record, nodes, summary.whole);
    if (summary.settled) account.settled = account_of(nodes, *summary.settled);
  }
  sort_notes(record.rows<store::Note>(), account);
  return account;
}

}  // namespace parajoule::cli
