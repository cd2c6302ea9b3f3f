#include <cstdlib>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "cli/energy_text.h"
#include "cli/numbers.h"
#include "cli/run_account.h"
#include "cli/runs.h"
#include "cli/summary.h"

namespace parajoule::cli {
namespace {

using Align = Table::Align;

constexpr std::size_t name_columns = 17;  // what the other columns leave of a hundred
constexpr std::size_t narrow_name_columns = 10;
constexpr std::size_t least_columns = 3;  // of the narrow table: run, name, state

/// The top-1 error on the validation set, or of the last set there is.
std::string error_text(const store::Summary& summary) {
  std::optional<double> error;
  bool validation = false;
  for (const store::Score& score : summary.scores) {
    if (score.metric != "top1_error" || validation) continue;
    error = score.value;
    validation = score.set == "validation";
  }
  return error ? fmt::format("{:.2f} %", 100 * *error) : "-";
}

template <meter::Label label>
std::string energy_cell(const std::optional<meter::Total<label>>& total) {
  return total ? watt_hours(total->energy()) : "-";
}

struct Row {
  std::string id, started, name, state, epochs, error, time, measured, modelled;
};

Row row_of(const RunAccount& account) {
  const store::Summary& summary = account.summary;
  return {summary.run.id,
          spoken_utc(summary.run.started_utc).substr(0, 16),
          summary.run.name,
          std::string(word_for(summary.standing)),
          std::to_string(summary.epochs),
          error_text(summary),
          clock(summary.whole.length()),
          energy_cell(account.whole.totals.measured),
          energy_cell(account.whole.totals.modelled)};
}

Table wide_table(const std::vector<Row>& rows) {
  Table table({{.heading = "run", .most = 8},
               {.heading = "started (UTC)"},
               {.heading = "name", .most = name_columns},
               {.heading = "state"},
               {.heading = "epochs", .align = Align::right},
               {.heading = "error", .align = Align::right},
               {.heading = "time", .align = Align::right},
               {.heading = "measured", .align = Align::right},
               {.heading = "modelled", .align = Align::right}});
  for (const Row& row : rows)
    table.add({row.id, row.started, row.name, row.state, row.epochs, row.error, row.time,
               row.measured, row.modelled});
  return table;
}

/// Without what `runs show` tells soonest; what still does not fit is left out from the right.
Table narrow_table(const std::vector<Row>& rows) {
  Table table({{.heading = "run", .most = 8},
               {.heading = "name", .most = narrow_name_columns},
               {.heading = "state"},
               {.heading = "time", .align = Align::right},
               {.heading = "measured", .align = Align::right},
               {.heading = "modelled", .align = Align::right}});
  for (const Row& row : rows)
    table.add({row.id, row.name, row.state, row.time, row.measured, row.modelled});
  return table;
}

}  // namespace

std::filesystem::path records_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* named = std::getenv("PARAJOULE_RECORDS");
  return named && *named ? named : "records";
}

std::string list_text(std::span<const std::filesystem::path> records, Look look,
                      std::size_t columns) {
  std::vector<Row> rows;
  std::string unreadable;
  for (const std::filesystem::path& file : records) {
    try {
      rows.push_back(row_of(account_of(store::Reader(file))));
    } catch (const base::Error& error) {
      unreadable += indented(error.what());
    }
  }
  if (rows.empty()) return unreadable;
  const bool wide = columns >= most_columns || wide_table(rows).across() <= columns;
  std::string text =
      wide ? wide_table(rows).text(look) : narrow_table(rows).fitting(look, columns, least_columns);
  const std::string legend = wide ? "error: top-1 error after the last epoch; energies in Wh"
                                  : "energies in Wh; wider terminals have more columns";
  for (const std::string& line : wrapped(legend, columns)) text += line + "\n";
  return text + (unreadable.empty() ? "" : "\n" + unreadable);
}

}  // namespace parajoule::cli
