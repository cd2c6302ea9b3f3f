#include "cli/summary.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/energy_text.h"
#include "cli/numbers.h"
#include "store/tables.h"

namespace parajoule::cli {
namespace {

constexpr std::size_t most_notes = 8;
constexpr std::size_t most_bad_samples = 3;
using Align = Table::Align;

/// A share of the samples in percent, anything else as a number.
std::string metric_value(const store::Score& score) {
  return score.metric.ends_with("_error") ? percent(score.value) : rounded(score.value);
}

std::string with_spaces(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// The last words of a run that failed: `failed`, and why.
std::string failure_text(const std::vector<store::Note>& notes) {
  const std::string failed = std::string(word_for(store::Standing::failed));
  const auto last = std::find_if(notes.rbegin(), notes.rend(), [&](const store::Note& note) {
    return note.severity == store::Severity::error && note.text.starts_with(failed + ": ");
  });
  return last == notes.rend() ? failed : last->text;
}

std::string state_text(const RunAccount& account) {
  const store::Summary& summary = account.summary;
  const std::string end = spoken(summary.whole.end);
  switch (summary.standing) {
    case store::Standing::running:
      return fmt::format("running; its record reaches {} so far", end);
    case store::Standing::stopped:
      return "stopped; the next start of the same experiment resumes it";
    case store::Standing::killed:
      return fmt::format("killed; its record ends after {}", end);
    case store::Standing::unknown:
      return fmt::format("running when last heard of, {} after its start, on another machine", end);
    case store::Standing::failed:
      return failure_text(account.notes);
    case store::Standing::done:
      break;
  }
  return std::string(word_for(summary.standing));
}

Table head(const RunAccount& account, std::string_view show_again) {
  const store::Run& run = account.summary.run;
  Table table({{}, {}});
  const auto add = [&](const std::string& name, std::string_view text) {
    bool first = true;
    for (const std::string& part : wrapped(shown(text), most_columns - 12)) {
      table.add({first ? name : "", part});
      first = false;
    }
  };
  add("run", fmt::format("{} ({})", run.name, run.id));
  add("state", state_text(account));
  add("started", spoken_utc(run.started_utc));
  add("command", run.command);
  if (!show_again.empty()) add("show again", show_again);
  return table;
}

Table quality(const store::Summary& summary) {
  Table table({{}, {}, {.align = Align::right}, {}});
  std::string last_set;
  for (const store::Score& score : summary.scores) {
    table.add({score.set == last_set ? "" : score.set, metric_name(score.metric),
               metric_value(score), fmt::format("after epoch {}", score.epoch + 1)});
    last_set = score.set;
  }
  return table;
}

/// One line of the comparison of the whole run with its settled part.
struct Line {
  std::string name;
  std::function<std::string(const StretchAccount&)> value;
};

using Number = std::function<std::optional<double>(const StretchAccount&)>;

Line line(std::string name, Number number) {
  return {std::move(name), [number = std::move(number)](const StretchAccount& account) {
            const std::optional<double> value = number(account);
            return value ? rounded(*value) : std::string("-");
          }};
}

Number of_figures(double meter::Figures::*number) {
  return [number](const StretchAccount& account) {
    return account.figures ? std::optional(*account.figures.*number) : std::nullopt;
  };
}

using OfLabel = std::optional<meter::Intensity> meter::Figures::*;

Number per_device_hour(OfLabel label) {
  return [label](const StretchAccount& account) -> std::optional<double> {
    if (!account.figures || !(*account.figures.*label)) return {};
    return (*account.figures.*label)->kilowatt_hours_per_device_hour;
  };
}

Number per_1000_samples(OfLabel label) {
  return [label](const StretchAccount& account) -> std::optional<double> {
    if (!account.figures || !(*account.figures.*label)) return {};
    return (*account.figures.*label)->watt_hours_per_1000_samples;
  };
}

std::vector<Line> work_lines() {
  using meter::Figures;
  return {
      {"wall time", [](const auto& s) { return spoken(s.work.length()); }},
      {"devices (ranks that train)", [](const auto& s) { return std::to_string(s.work.devices); }},
      {"training samples", [](const auto& s) { return std::to_string(s.work.samples); }},
      line("device hours", of_figures(&Figures::device_hours)),
      line("samples per device hour", of_figures(&Figures::samples_per_device_hour)),
      line("passes per device hour", of_figures(&Figures::passes_per_device_hour)),
      {"energy measured", [](const auto& s) { return total_text(s.totals.measured); }},
      {"energy modelled", [](const auto& s) { return total_text(s.totals.modelled); }},
      line("kWh per device hour measured", per_device_hour(&Figures::measured)),
      line("kWh per device hour modelled", per_device_hour(&Figures::modelled)),
      line("Wh per 1000 samples measured", per_1000_samples(&Figures::measured)),
      line("Wh per 1000 samples modelled", per_1000_samples(&Figures::modelled)),
  };
}

std::vector<Line> share_lines(const store::Stretch& work) {
  std::vector<Line> lines;
  for (std::size_t i = 0; i < work.shares.size(); ++i)
    lines.push_back({with_spaces(work.shares[i].phase), [i](const StretchAccount& account) {
                       const auto& shares = account.work.shares;
                       return i < shares.size() ? percent(shares[i].fraction) : std::string("-");
                     }});
  return lines;
}

Table compared(const RunAccount& account, const std::vector<Line>& lines) {
  std::vector<Table::Column> columns = {{}, {.align = Align::right}};
  if (account.settled) {
    columns[1].heading = "whole run";
    const std::int64_t left_out = account.summary.settling_steps;
    columns.push_back({.heading = left_out == 1
                                      ? "without the first step"
                                      : fmt::format("without the first {} steps", left_out),
                       .align = Align::right});
  }
  Table table(columns);
  for (const Line& line : lines) {
    std::vector<std::string> cells = {line.name, line.value(account.whole)};
    if (account.settled) cells.push_back(line.value(*account.settled));
    table.add(cells);
  }
  return table;
}

/// Warnings and errors, the first ones of many.
std::string notes_text(const std::vector<store::Note>& notes, std::size_t most) {
  std::string text;
  std::size_t shown_notes = 0;
  std::size_t left = 0;
  for (const store::Note& note : notes) {
    if (note.severity == store::Severity::note) continue;
    if (++shown_notes > most) {
      ++left;
      continue;
    }
    const std::string rank = note.rank ? fmt::format(" rank {}:", *note.rank) : "";
    text += indented(fmt::format("{} at {},{} {}", store::text_of(note.severity),
                                 spoken(note.seconds), rank, note.text));
  }
  if (left > 0) text += fmt::format("{} more in the table `note`\n", left);
  return text;
}

std::string bad_samples_text(const BadSamples& bad, Look look) {
  Table table({{}, {.align = Align::right}});
  const auto add = [&](std::string_view what, std::int64_t count) {
    if (count > 0) table.add({std::string(what), std::to_string(count)});
  };
  add("samples left out", bad.skipped);
  add("samples replaced by others", bad.replaced);
  add("damage that decoders mended", bad.mended);
  return table.text(look) + notes_text(bad.notes, most_bad_samples);
}

}  // namespace

std::string_view word_for(store::Standing standing) {
  switch (standing) {
    case store::Standing::running:
      return "running";
    case store::Standing::done:
      return "done";
    case store::Standing::stopped:
      return "stopped";
    case store::Standing::failed:
      return "failed";
    case store::Standing::killed:
      return "killed";
    case store::Standing::unknown:
      break;
  }
  return "running?";
}

std::string show_command(const std::filesystem::path& file, std::string_view id,
                         const std::filesystem::path& folder) {
  std::error_code unknown;
  const bool found_by_id =
      std::filesystem::equivalent(std::filesystem::absolute(file).parent_path(), folder, unknown);
  if (found_by_id && file.stem().string().ends_with(id))
    return fmt::format("parajoule runs show {}", id);
  std::string quoted;
  for (const char c : file.string()) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return fmt::format("parajoule runs show '{}'", quoted);
}

std::string summary_text(const RunAccount& account, std::string_view show_again, Look look) {
  const store::Stretch& work = account.whole.work;
  std::string text = head(account, show_again).text(look);
  text += section("quality", quality(account.summary).text(look), look);
  text += section("work and energy", compared(account, work_lines()).text(look), look);
  text += section("energy by source",
                  sources_text(account.whole, look) + lines_text(account.metering_cost), look);
  text += section("whole nodes, beside the sums above", wholes_text(account.whole, look), look);
  text += section("not metered", lines_text(account.unmetered), look);
  text += section("as the study counts", study_text(account.study, look), look);
  text += section("share of the time of all ranks", compared(account, share_lines(work)).text(look),
                  look);
  text += section("bad samples", bad_samples_text(account.bad_samples, look), look);
  text += section("warnings and errors", notes_text(account.notes, most_notes), look);
  return text;
}

}  // namespace parajoule::cli
