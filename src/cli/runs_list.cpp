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

std::vector<std::string> row_of(const RunAccount& account) {
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

}  // namespace

std::filesystem::path records_folder(const std::string& given) {
  if (!given.empty()) return given;
  const char* named = std::getenv("PARAJOULE_RECORDS");
  return named && *named ? named : "records";
}

std::string list_text(std::span<const std::filesystem::path> records, Look look) {
  Table table({{.heading = "run", .most = 8},
               {.heading = "started (UTC)"},
               {.heading = "name", .most = name_columns},
               {.heading = "state"},
               {.heading = "epochs", .align = Align::right},
               {.heading = "error", .align = Align::right},
               {.heading = "time", .align = Align::right},
               {.heading = "measured", .align = Align::right},
               {.heading = "modelled", .align = Align::right}});
  std::string unreadable;
  for (const std::filesystem::path& file : records) {
    try {
      table.add(row_of(account_of(store::Reader(file))));
    } catch (const base::Error& error) {
      unreadable += indented(error.what());
    }
  }
  if (table.empty()) return unreadable;
  const std::string legend = "error: top-1 error after the last epoch; energies in Wh\n";
  return table.text(look) + legend + (unreadable.empty() ? "" : "\n" + unreadable);
}

}  // namespace parajoule::cli
